package pool

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/taskpool-dev/taskpool/pool/store"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// The kinds of record in a pool's log. Numbers are in stored data and stay.
const (
	kindMeta    uint8 = 1 // one: the pool itself
	kindTask    uint8 = 2 // by number: the task, as the feed carries it
	kindEvent   uint8 = 3 // by number and event id: a thread event, as the feed carries it
	kindClaim   uint8 = 4 // by number: what only the pool knows of a task's hold
	kindRequest uint8 = 5 // by revision: an answered request_id
	kindPool    uint8 = 6 // by pool number, in the system log
	kindActor   uint8 = 7 // no record, told to history alone: who made a commit
)

// Codec writes and reads what the feed carries. The bytes of a task or event
// serve the store, the feed and every watcher of the default view, so they are
// those of the API's messages. A Codec is pure and used concurrently.
type Codec interface {
	EncodeTask(*task.Task) ([]byte, error)
	DecodeTask([]byte) (*task.Task, error)
	EncodeEvent(*task.Event) ([]byte, error)
	DecodeEvent([]byte) (*task.Event, error)
	// AppendChange appends one change of a revision as the feed carries it, made
	// of what EncodeTask and EncodeEvent gave. A nil task: it is gone.
	AppendChange(dst []byte, revision int64, taskID string, task []byte, events [][]byte) []byte
}

var (
	metaKey  = store.Key{Kind: kindMeta}
	actorKey = store.Key{Kind: kindActor}
)

func taskKey(number int64) store.Key  { return store.Key{Kind: kindTask, ID: number} }
func claimKey(number int64) store.Key { return store.Key{Kind: kindClaim, ID: number} }
func eventKey(number, event int64) store.Key {
	return store.Key{Kind: kindEvent, ID: number, Sub: event}
}

// metaRecord is the pool's own record. The last numbers are written where the
// records that show them go away, so that none is ever given out again.
type metaRecord struct {
	Epoch string `json:"epoch"`
	// Since and SinceNonce are of the commit that began the epoch; SinceEmpty:
	// there was no task after it.
	Since      int64  `json:"since,omitempty"`
	SinceNonce uint64 `json:"since_nonce,omitempty"`
	SinceEmpty bool   `json:"since_empty,omitempty"`
	LastNumber int64  `json:"last_number,omitempty"`
	LastEvent  int64  `json:"last_event,omitempty"`
}

func (m metaRecord) since() since {
	return since{revision: m.Since, nonce: m.SinceNonce, empty: m.SinceEmpty}
}

// claimRecord is what only the pool knows of a task's hold and assignment.
type claimRecord struct {
	Token           string `json:"token,omitempty"`
	AssignedByClaim bool   `json:"assigned_by_claim,omitempty"`
	RunID           string `json:"run_id,omitempty"`
	Expired         int    `json:"expired,omitempty"`
	// Renewed changes with each renewal that others who share the store have to
	// hear of.
	Renewed int64 `json:"renewed,omitempty"`
}

func (c claimRecord) hold() hold { return hold{token: c.Token, runID: c.RunID, expired: c.Expired} }

// requestRecord is a request as it is stored; its revision is the key's.
type requestRecord struct {
	Actor  string    `json:"actor"`
	Method string    `json:"method"`
	ID     string    `json:"id"`
	Digest string    `json:"digest"`
	At     time.Time `json:"at"`
	Nonce  uint64    `json:"nonce"`
	Tasks  []string  `json:"tasks,omitempty"`
	Token  string    `json:"token,omitempty"`

	Note json.RawMessage `json:"note,omitempty"`
}

func (r *request) record() requestRecord {
	return requestRecord{
		Actor: r.key.actor, Method: r.key.method, ID: r.key.id, Digest: r.digest,
		At: r.at, Nonce: r.nonce, Tasks: r.ids, Token: r.token, Note: r.note,
	}
}

func (r requestRecord) request(revision int64) *request {
	return &request{
		key: requestKey{r.Actor, r.Method, r.ID}, digest: r.Digest,
		at: r.At, revision: revision, nonce: r.Nonce, ids: r.Tasks, token: r.Token, note: r.Note,
	}
}

// encodeRecord writes one of the records above. They hold nothing that JSON
// can't write.
func encodeRecord(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	return b, nil
}

func decodeRecord[T any](b []byte) (T, error) {
	var v T
	if err := json.Unmarshal(b, &v); err != nil {
		return v, fmt.Errorf("decode %T: %w", v, err)
	}
	return v, nil
}
