// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/nervix-go/nervix/host/wire/verify"
)

// reader verifies an envelope in one pass and without allocation. It holds the rules of host/wire/verify, which is the oracle of its tests;
// it exists beside it because envelopes have one table for each row and are judged on the record path. Positions are offsets in the whole
// message: alignment counts from the size prefix, as the builders of all languages do it.
//
// The first broken rule is kept in bad; from then on every read gives zero, and loops end.
type reader struct {
	b     []byte
	where string // what is read, for the path of a violation
	bad   *MessageError
	// end is the highest offset that belongs to something visited.
	end int
	// unknown says that a table has members this schema does not know.
	unknown bool
	// What is left for the message: tables, and bytes counted as often as they are referred to.
	tables, apparent int
}

// table is a judged table.
type table struct{ pos, vtable, inline, slots int }

func (r *reader) broken(rule verify.Rule, pos int) {
	if r.bad == nil {
		r.bad = &MessageError{Class: ClassVerification, Violation: &verify.Violation{Rule: rule, Path: r.where, Offset: pos}}
	}
}

func (r *reader) visited(end int) { r.end = max(r.end, end) }

func (r *reader) spend(apparent, pos int) {
	if r.apparent -= apparent; r.apparent < 0 {
		r.broken(verify.RuleSize, pos)
	}
}

func (r *reader) u16(pos int) int { return int(binary.LittleEndian.Uint16(r.b[pos:])) }
func (r *reader) u32(pos int) int { return int(binary.LittleEndian.Uint32(r.b[pos:])) }

// follow gives the target of the offset at pos. pos lies inside the message with its four bytes; zero is what an earlier fault left.
func (r *reader) follow(pos int) int {
	if r.bad != nil || pos == 0 {
		return 0
	}
	distance := r.u32(pos)
	target := pos + distance
	switch {
	case pos%4 != 0 || target%4 != 0:
		r.broken(verify.RuleAlignment, pos)
	case distance == 0 || target > len(r.b)-4:
		r.broken(verify.RuleOffset, pos)
	default:
		return target
	}
	return 0
}

// table judges the table at pos, of which the schema knows a number of slots.
func (r *reader) table(pos, slots int) table {
	if r.bad != nil || pos == 0 {
		return table{}
	}
	n := len(r.b)
	vtable := pos - int(int32(binary.LittleEndian.Uint32(r.b[pos:])))
	if vtable < prefixBytes || vtable > n-4 {
		r.broken(verify.RuleVtable, pos)
		return table{}
	}
	if vtable%2 != 0 {
		r.broken(verify.RuleAlignment, vtable)
		return table{}
	}
	size, inline := r.u16(vtable), r.u16(vtable+2)
	if size < 4 || size%2 != 0 || vtable+size > n || inline < 4 || pos+inline > n {
		r.broken(verify.RuleVtable, vtable)
		return table{}
	}
	t := table{pos: pos, vtable: vtable, inline: inline, slots: size/2 - 2}
	for slot := slots; slot < t.slots; slot++ {
		r.unknown = r.unknown || r.u16(vtable+4+2*slot) != 0
	}
	r.visited(vtable + size)
	r.visited(pos + inline)
	if r.tables--; r.tables < 0 {
		r.broken(verify.RuleTables, pos)
	}
	r.spend(inline+size, pos)
	return t
}

// place finds the inline bytes of a member; zero is absent.
func (r *reader) place(t table, slot, size int) int {
	if r.bad != nil || slot >= t.slots {
		return 0
	}
	at := t.vtable + 4 + 2*slot
	entry := r.u16(at)
	switch {
	case entry == 0:
		return 0
	case entry < 4 || entry+size > t.inline:
		r.broken(verify.RuleVtable, at)
		return 0
	case (t.pos+entry)%size != 0:
		r.broken(verify.RuleAlignment, t.pos+entry)
		return 0
	}
	return t.pos + entry
}

// byte reads a member of one byte whose default is zero.
func (r *reader) byte(t table, slot int) byte {
	if at := r.place(t, slot, 1); at != 0 {
		return r.b[at]
	}
	return 0
}

// required finds a reference that must be there.
func (r *reader) required(t table, slot int) int {
	at := r.place(t, slot, 4)
	if at == 0 {
		r.broken(verify.RuleRequired, t.pos)
	}
	return at
}

// span is the place of a vector: its first element and their number.
type span struct{ at, n int }

// vector judges a required vector of elements of one size; what elements refer to is judged by the caller.
func (r *reader) vector(t table, slot, size int) span {
	pos := r.follow(r.required(t, slot))
	if r.bad != nil {
		return span{}
	}
	s := span{pos + 4, r.u32(pos)}
	switch {
	case s.n > (len(r.b)-s.at)/size:
		r.broken(verify.RuleOffset, pos)
		return span{}
	case s.n > 0 && s.at%size != 0:
		r.broken(verify.RuleAlignment, s.at)
		return span{}
	}
	r.spend(4+s.n*size, pos)
	r.visited(s.at + s.n*size)
	return s
}

// text judges a required string: terminated UTF-8.
func (r *reader) text(t table, slot int) span {
	pos := r.follow(r.required(t, slot))
	if r.bad != nil {
		return span{}
	}
	s := span{pos + 4, r.u32(pos)}
	if s.n >= len(r.b)-s.at {
		r.broken(verify.RuleOffset, pos)
		return span{}
	}
	r.spend(4+s.n+1, pos)
	r.visited(s.at + s.n + 1)
	switch {
	case r.b[s.at+s.n] != 0:
		r.broken(verify.RuleTerminator, s.at+s.n)
	case r.bad == nil && !utf8.Valid(r.b[s.at:s.at+s.n]):
		r.broken(verify.RuleText, s.at)
	}
	return s
}

// child judges a required table.
func (r *reader) child(t table, slot, slots int) table {
	return r.table(r.follow(r.required(t, slot)), slots)
}

// finish refuses bytes behind the last visited one, except the zero padding of a builder, unless an unknown member may own them.
func (r *reader) finish() *MessageError {
	if r.bad != nil || r.unknown {
		return r.bad
	}
	rest := r.b[r.end:]
	clean := len(rest) < 8
	for _, b := range rest[:min(len(rest), 8)] {
		clean = clean && b == 0
	}
	if !clean {
		r.where = "Message"
		r.broken(verify.RuleTrailing, r.end)
	}
	return r.bad
}
