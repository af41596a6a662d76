package pool_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
	"github.com/taskpool-dev/taskpool/pool"
)

// The same as FuzzImport tries with bytes, with records that are well formed:
// some are dropped, doubled and moved, and fields of theirs get values that make
// sense elsewhere.
func TestImport_ofOddRecords(t *testing.T) {
	all := fixed(t)
	rapid.Check(t, func(rt *rapid.T) {
		records := slices.Clone(all)
		for range rapid.IntRange(1, 3).Draw(rt, "changes") {
			i := rapid.IntRange(0, len(records)-1).Draw(rt, "record")
			switch rapid.IntRange(0, 9).Draw(rt, "how") {
			case 0:
				records = slices.Delete(records, i, i+1)
			case 1:
				records = append(records, records[i])
			case 2:
				j := rapid.IntRange(0, len(records)-1).Draw(rt, "with")
				records[i], records[j] = records[j], records[i]
			default:
				m := message(t, records[i])
				tie(rt, m.GetTask())
				spoil(rt, m.ProtoReflect())
				b, err := proto.Marshal(m)
				if err != nil {
					rt.Fatal(err)
				}
				records[i] = b
			}
		}
		if p, _, err := takeBytes(t, pool.ImportRestore, nil, records); err == nil {
			holdsTogether(t, p)
		}
		for _, had := range [][][]byte{nil, all} {
			p, first, err := takeBytes(t, pool.ImportMerge, had, records)
			if err != nil {
				continue
			}
			holdsTogether(t, p)
			state := p.State()
			again, err := take(t, p, pool.Request{Actor: operator}, pool.ImportMerge, records)
			if err != nil || again.Created > 0 || again.Unchanged != first.Created+first.Unchanged || again.RefusedCount != first.RefusedCount || p.State() != state {
				rt.Fatalf("again: %+v, %v, after %+v", again, err, first)
			}
		}
	})
}

// tie gives a task an edge to one that there is.
func tie(rt *rapid.T, m *taskpoolv1.Task) {
	other := id(rapid.IntRange(0, 6).Draw(rt, "other"))
	switch how := rapid.IntRange(0, 4).Draw(rt, "edge"); {
	case m == nil:
	case how < 2:
		m.DependencyIds = append(m.DependencyIds, other)
	case how == 2:
		m.ParentId = other
	}
}

// spoil gives one field, somewhere in the message, another value.
func spoil(rt *rapid.T, m protoreflect.Message) {
	for m.Descriptor().Fields().Len() > 0 {
		f := m.Descriptor().Fields().Get(rapid.IntRange(0, m.Descriptor().Fields().Len()-1).Draw(rt, "field"))
		switch {
		case f.IsMap():
			m.Mutable(f).Map().Set(protoreflect.ValueOfString(text(rt)).MapKey(), protoreflect.ValueOfString(text(rt)))
		case f.IsList() && f.Kind() == protoreflect.StringKind:
			m.Mutable(f).List().Append(protoreflect.ValueOfString(text(rt)))
		case f.IsList():
			m.Clear(f)
		case f.Kind() == protoreflect.MessageKind:
			if rapid.IntRange(0, 4).Draw(rt, "clear") == 0 {
				m.Clear(f)
				return
			}
			m = m.Mutable(f).Message()
			continue
		default:
			m.Set(f, scalar(rt, f))
		}
		return
	}
}

func scalar(rt *rapid.T, f protoreflect.FieldDescriptor) protoreflect.Value {
	n := rapid.SampledFrom([]int64{-1, 0, 1, 2, 3, 5, 9, 1_000_000, 1 << 31, 1 << 53, 1<<63 - 1}).Draw(rt, "number")
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(n > 0)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(n))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(n % 20))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(float64(n))
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(text(rt))
	}
	return protoreflect.ValueOfInt64(n)
}

func text(rt *rapid.T) string {
	return rapid.SampledFrom([]string{
		"", " ", "x", "a\x00", "T-1", "T-2", "T-99", id(0), id(1), id(2), id(5), id(99), "human", "agent:a", "system:pool", "ext:anonymous", "https://x.org",
	}).Draw(rt, "text")
}
