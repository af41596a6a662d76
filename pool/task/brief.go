package task

import (
	"encoding/binary"
	"iter"
	"strings"
)

// Brief is the text of a task beyond its title, part by part.
type Brief struct {
	Description        string
	Body               string
	AcceptanceCriteria []string
	Links              []string
	Steps              []string
	Constraints        []string
	OutOfScope         []string
	Verification       []string
	Context            []string
	EdgeCases          []string
}

// BriefPart names a field of a [Brief]: a text, or a list of them.
type BriefPart uint8

// The parts, in the order in which a brief is packed.
const (
	PartDescription BriefPart = iota
	PartBody
	PartAcceptanceCriteria
	PartLinks
	PartSteps
	PartConstraints
	PartOutOfScope
	PartVerification
	PartContext
	PartEdgeCases
)

// firstList is the part that listFields begins with; the others follow.
const firstList = PartAcceptanceCriteria

// PackedBrief is a [Brief] laid into one string, which takes far less memory than
// a string for each text and far less of the garbage collector's time. Two are
// equal when their briefs are; "" is the brief without any text. [Brief.Pack] and
// [BriefPacker] make them.
//
// For each text, in the order of the parts: one byte with its part, its length as
// a varint, and itself. Empty texts that are no items of a list are left out.
type PackedBrief string

// Pack lays the brief into one string.
func (b *Brief) Pack() PackedBrief {
	size := 0
	for _, text := range b.all() {
		size += 1 + lengthSize(len(text)) + len(text)
	}
	if size == 0 {
		return ""
	}
	var packed strings.Builder
	packed.Grow(size)
	for part, text := range b.all() {
		var head [1 + binary.MaxVarintLen64]byte
		packed.Write(binary.AppendUvarint(append(head[:0], byte(part)), uint64(len(text))))
		packed.WriteString(text)
	}
	return PackedBrief(packed.String())
}

// all yields every text with its part, in order.
func (b *Brief) all() iter.Seq2[BriefPart, string] {
	return func(yield func(BriefPart, string) bool) {
		if b.Description != "" && !yield(PartDescription, b.Description) {
			return
		}
		if b.Body != "" && !yield(PartBody, b.Body) {
			return
		}
		for i := range listFields {
			for _, item := range *listFields[i].brief(b) {
				if !yield(firstList+BriefPart(i), item) {
					return
				}
			}
		}
	}
}

// Unpack gives the parts. Their texts share the string's memory; the lists are the
// caller's, nil where a part is empty.
func (p PackedBrief) Unpack() *Brief {
	b := &Brief{}
	if p == "" {
		return b
	}
	var counts [len(listFields)]int
	total := 0
	for part := range p.All() {
		if part >= firstList {
			counts[part-firstList]++
			total++
		}
	}
	items := make([]string, total)
	for i, n := range counts {
		if n > 0 {
			*listFields[i].brief(b), items = items[:0:n], items[n:]
		}
	}
	for part, text := range p.All() {
		switch part {
		case PartDescription:
			b.Description = text
		case PartBody:
			b.Body = text
		default:
			list := listFields[part-firstList].brief(b)
			*list = append(*list, text)
		}
	}
	return b
}

// All yields each text with its part, in order. The texts share p's memory.
func (p PackedBrief) All() iter.Seq2[BriefPart, string] {
	return func(yield func(BriefPart, string) bool) {
		for rest := string(p); len(rest) > 1; {
			part := BriefPart(rest[0])
			n, from := length(rest[1:])
			text := rest[1+from : 1+from+n]
			if !yield(part, text) {
				return
			}
			rest = rest[1+from+n:]
		}
	}
}

// Text is that of one part which is no list.
func (p PackedBrief) Text(part BriefPart) string {
	for has, text := range p.All() {
		if has == part {
			return text
		}
		if has > part {
			break
		}
	}
	return ""
}

// BriefPacker packs texts that come one by one: in the order of the parts, those
// of a text once and not empty. The zero value is ready; Reset begins anew in the
// same memory.
type BriefPacker struct {
	packed []byte
	part   BriefPart
	odd    bool
}

// Add packs the next text.
func (p *BriefPacker) Add(part BriefPart, text []byte) {
	p.odd = p.odd || part < p.part || part < firstList && (len(text) == 0 || part == p.part && len(p.packed) > 0)
	p.part = part
	p.packed = binary.AppendUvarint(append(p.packed, byte(part)), uint64(len(text)))
	p.packed = append(p.packed, text...)
}

// InOrder says whether all came as they should: then Packed gives what [Brief.Pack]
// makes of them, and otherwise nothing that may be kept.
func (p *BriefPacker) InOrder() bool { return !p.odd }

// Packed is the brief so far, in one piece of memory with a title.
func (p *BriefPacker) Packed(title []byte) (string, PackedBrief) {
	p.packed = append(p.packed, title...)
	both := string(p.packed)
	brief := len(p.packed) - len(title)
	p.packed = p.packed[:brief]
	return both[brief:], PackedBrief(both[:brief])
}

// Reset forgets what was added.
func (p *BriefPacker) Reset() { p.packed, p.part, p.odd = p.packed[:0], 0, false }

// length reads a varint, and says how many bytes it takes.
func length(s string) (n, size int) {
	for shift := 0; size < len(s); shift += 7 {
		c := s[size]
		size++
		n |= int(c&0x7f) << shift
		if c < 0x80 {
			break
		}
	}
	return n, size
}

func lengthSize(n int) int {
	size := 1
	for ; n >= 0x80; n >>= 7 {
		size++
	}
	return size
}
