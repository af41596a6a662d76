package server

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"

	"google.golang.org/protobuf/proto"

	"github.com/taskpool-dev/taskpool/pool"
)

// pageToken is where the next page of a listing begins. To callers it is opaque
// and only good for the query it was made for.
type pageToken struct {
	// query is a hash of what the pages have in common.
	query uint64
	// after is the number of the last item of the page before, or name its name.
	after int64
	name  string
	// cursor is that of the first page.
	cursor string
}

const pageTokenVersion = 1

// maxTokenText bounds the texts in a token: a pool's name, a member, a cursor.
const maxTokenText = 255

var errPageToken = errors.New("not a page token of this service")

// queryHash is the hash of a query, which says nothing of where a page begins,
// and of what else the pages depend on.
func queryHash(query proto.Message, more ...string) uint64 {
	b, _ := proto.MarshalOptions{Deterministic: true}.Marshal(query) // it was unmarshalled just now
	h := sha256.New()
	h.Write([]byte(query.ProtoReflect().Descriptor().FullName()))
	for _, text := range append([]string{string(b)}, more...) {
		h.Write(binary.AppendUvarint(nil, uint64(len(text))))
		h.Write([]byte(text))
	}
	return binary.BigEndian.Uint64(h.Sum(nil))
}

// String is the opaque text: URL-safe, without padding. A checksum finds tokens
// that were cut or mixed up; forging one shows nothing that a listing does not.
func (t pageToken) String() string {
	b := []byte{pageTokenVersion}
	b = binary.BigEndian.AppendUint64(b, t.query)
	b = binary.AppendUvarint(b, uint64(t.after))
	for _, text := range []string{t.name, t.cursor} {
		b = append(b, byte(min(len(text), maxTokenText)))
		b = append(b, text[:min(len(text), maxTokenText)]...)
	}
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return base64.RawURLEncoding.EncodeToString(b)
}

// parsePageToken reads what String wrote; anything else is errPageToken.
func parsePageToken(s string) (pageToken, error) {
	var t pageToken
	if len(s) > 1024 {
		return t, errPageToken
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil || len(b) < 1+8+1+1+1+4 || b[0] != pageTokenVersion {
		return t, errPageToken
	}
	b, sum := b[:len(b)-4], binary.BigEndian.Uint32(b[len(b)-4:])
	if crc32.ChecksumIEEE(b) != sum {
		return t, errPageToken
	}
	t.query = binary.BigEndian.Uint64(b[1:])
	rest := b[9:]
	after, n := binary.Uvarint(rest)
	if n <= 0 || after > 1<<62 {
		return t, errPageToken
	}
	t.after, rest = int64(after), rest[n:]
	for _, text := range []*string{&t.name, &t.cursor} {
		if len(rest) == 0 || len(rest)-1 < int(rest[0]) {
			return t, errPageToken
		}
		*text, rest = string(rest[1:1+int(rest[0])]), rest[1+int(rest[0]):]
	}
	if len(rest) > 0 || t.String() != s { // one text for one position
		return t, errPageToken
	}
	return t, nil
}

// continued reads the token of a request: where its page begins, for a query
// with that hash. No token is the first page.
func continued(field, token string, query uint64) (pageToken, error) {
	if token == "" {
		return pageToken{query: query}, nil
	}
	t, err := parsePageToken(token)
	if err != nil {
		return t, violation(pool.ReasonPageTokenMismatch, field, "is no page token of this service: send one back as it was given, or leave it out to begin with the first page")
	}
	if t.query != query {
		return t, violation(pool.ReasonPageTokenMismatch, field, "belongs to another query: repeat the request that gave it and change nothing but the page, or leave it out to begin with the first page")
	}
	return t, nil
}
