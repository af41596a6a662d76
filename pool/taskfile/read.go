package taskfile

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// byteOrderMark is what some editors begin a file with.
const byteOrderMark = "\ufeff"

// Read checks a whole file and gives what it says, or everything wrong with it,
// of which a bounded number is told one by one; their fields are paths such as
// tasks[3].steps[0]. Where a cycle is among the problems it is given as ids, the
// first and the last equal. The file is only good when there are no problems. It
// shares no memory with data.
func Read(data []byte, l task.Limits) (f File, wrong task.Violations, cycle []string) {
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	if why := checkSyntax(data); why != "" {
		wrong.Add("", "the file %s", why)
		return File{}, wrong, nil
	}
	var p problems
	r := reading{problems: &p, limits: l}
	r.file(bytes.TrimSpace(data))
	r.connect()
	return File{Records: r.records, Pruned: r.pruned}, p.all(), r.cycle
}

// reading is a file on its way in.
type reading struct {
	*problems
	limits  task.Limits
	records []Record
	// named are the dependencies of each task as the file has them.
	named  [][]string
	pruned map[string][]string
	cycle  []string
}

// file reads the whole file, whose tasks are taken one at a time.
func (r *reading) file(data []byte) {
	if data[0] != '{' {
		r.add("", `the file is %s: write an object, {"tasks": [ … ]}`, kind(data))
		return
	}
	d := json.NewDecoder(bytes.NewReader(data))
	_, _ = d.Token() // {
	there := false
	for d.More() {
		token, _ := d.Token()
		name, _ := token.(string)
		switch {
		case name != "tasks":
			r.add(member("", name), "is unknown: a file has tasks and nothing else; take it out")
		case there:
			r.add(name, "is there twice: put all tasks into one list")
		default:
			there = true
			if list, _ := d.Token(); list != json.Delim('[') {
				r.add(name, "is no list: write [ … ]")
				return
			}
			r.tasks(d)
			continue
		}
		_ = d.Decode(new(nothing))
	}
	if !there {
		r.add("tasks", `is missing: a file without tasks is {"tasks": []}`)
	}
}

// tasks reads the list that the decoder is in, to its end.
func (r *reading) tasks(d *json.Decoder) {
	for i := 0; d.More(); i++ {
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return // never, as the syntax was checked
		}
		r.task(item("tasks", i), value)
	}
	_, _ = d.Token() // ]
}

// task reads one task of the file.
func (r *reading) task(path string, value json.RawMessage) {
	var in raw
	ok := members(r.problems, path, value, func(name string, value json.RawMessage) {
		i := fieldNamed(name)
		switch bit := uint32(1) << max(i, 0); {
		case i < 0:
			do, known := instead[name]
			if !known {
				do = "a task in this file has no such field; take it out"
			}
			r.add(member(path, name), "is unknown: %s", do)
		case in.met&bit != 0:
			r.add(member(path, name), "is there twice: keep one")
		default:
			in.met |= bit
			if !fields[i].read(r.problems, member(path, name), value, &in) {
				in.bad |= bit
			}
		}
	})
	if !ok {
		in.bad = ^uint32(0) // nothing more is to be said of it
	}
	record := Record{Task: r.checked(path, &in), History: in.history}
	r.records, r.named = append(r.records, record), append(r.named, in.dependencies)
}

// checked is the task that the fields make, and adds what is wrong with it.
func (r *reading) checked(path string, in *raw) *task.Task {
	for _, i := range []int{fieldID, fieldTitle, fieldStatus} {
		if bit := uint32(1) << i; (in.met|in.bad)&bit == 0 {
			in.bad |= bit
			r.add(member(path, fields[i].name), "is missing: every task of a file has one")
		}
	}
	if in.bad&(1<<fieldTitle) != 0 {
		in.draft.Title = "-" // so that only one thing is said of it
	}
	draft, found := in.draft.Check(r.limits)
	for _, v := range found {
		v.Field = fileName(v.Field)
		r.addAll(task.Violations{v}.At(path))
	}
	return &task.Task{
		ID: r.id(path, in), Title: draft.Title, Brief: draft.Brief(), Priority: draft.Priority, Type: draft.Type,
		Status: r.status(path, in),
	}
}

// fileName is the file's name for a field, or an item of one, of a draft.
func fileName(api string) string {
	name, rest := api, ""
	if i := strings.IndexByte(api, '['); i >= 0 {
		name, rest = api[:i], api[i:]
	}
	for i := range fields {
		if fields[i].api == name {
			return fields[i].name + rest
		}
	}
	return api
}

// id reads a task's id in canonical form, "" where it has none.
func (r *reading) id(path string, in *raw) string {
	if in.bad&(1<<fieldID) != 0 {
		return ""
	}
	id, ok := canonical(in.id)
	if !ok {
		r.add(path+".id", "is %s: write a UUID, as in 1b4e28ba-2fa1-4d2a-883f-b9a761bde3fb", shown(in.id))
	}
	return id
}

// canonical reads a whole UUID.
func canonical(id string) (string, bool) {
	named, ok := task.ParseReference(id)
	if !ok || named.Kind != task.ReferenceID {
		return "", false
	}
	return named.ID, true
}

func (r *reading) status(path string, in *raw) task.Status {
	if in.bad&(1<<fieldStatus) != 0 {
		return task.StatusUnspecified
	}
	s, ok := task.ParseStatus(in.status)
	if !ok || !HasStatus(s) {
		r.add(path+".status", "is %s: write pending, ready, in_progress or done", shown(in.status))
	}
	return s
}

// shown quotes a value of the file for a message.
func shown(value string) string { return strconv.Quote(task.Preview(value, 64)) }
