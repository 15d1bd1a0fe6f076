// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"encoding/binary"

	"github.com/nervix-go/nervix/host/wire/verify"
)

// Sidecar says for one batch which inputs each row stands for and what became of the other inputs (W-085). It is a view of a verified
// message.
type Sidecar struct {
	b                           []byte
	rows, acked, nacked, failed span
	// When all rows have one layout, these are the places of their two members in the table.
	uniform            bool
	tokensAt, sourceAt uint16
	// evenAt is the table of the first row when all rows lie as the host writes them (even.go), else zero.
	evenAt int
}

// Tokens is a list of tokens, a view of a message.
type Tokens struct{ b []byte }

// Len is the number of tokens.
func (t Tokens) Len() int { return len(t.b) / 8 }

// At is the i-th token.
func (t Tokens) At(i int) uint64 { return binary.LittleEndian.Uint64(t.b[8*i:]) }

// Row is one entry of the rows of a sidecar.
type Row struct {
	// Tokens are the inputs the row carries on.
	Tokens Tokens
	// Source is the token of the input row that input columns are read from, if HasSource.
	Source    uint64
	HasSource bool
}

// Rows is the number of rows of the batch.
func (s *Sidecar) Rows() int { return s.rows.n }

// Row reads the i-th row.
func (s *Sidecar) Row(i int) Row {
	pos := deref(s.b, s.rows.at+4*i)
	tokensAt, sourceAt := int(s.tokensAt), int(s.sourceAt)
	if !s.uniform {
		tokensAt, sourceAt = entry(s.b, pos, 0), entry(s.b, pos, 1)
	}
	row := Row{Tokens: tokens(s.b, pos+tokensAt)}
	if sourceAt != 0 {
		row.Source, row.HasSource = binary.LittleEndian.Uint64(s.b[pos+sourceAt:]), true
	}
	return row
}

// Acked is the number of sets of inputs that the guest dropped as done (W-091).
func (s *Sidecar) Acked() int { return s.acked.n }

// AckedSet is the i-th of them.
func (s *Sidecar) AckedSet(i int) Tokens {
	pos := deref(s.b, s.acked.at+4*i)
	return tokens(s.b, pos+entry(s.b, pos, 0))
}

// Nacked is the number of sets of inputs that fail directly (W-092).
func (s *Sidecar) Nacked() int { return s.nacked.n }

// NackedSet is the i-th of them with the guest's reason, a view of the message.
func (s *Sidecar) NackedSet(i int) (Tokens, []byte) { return reasoned(s.b, s.nacked.at+4*i) }

// Failed is the number of message errors, which go through ON MESSAGE ERROR (W-093).
func (s *Sidecar) Failed() int { return s.failed.n }

// FailedSet is the i-th of them with the guest's reason, a view of the message.
func (s *Sidecar) FailedSet(i int) (Tokens, []byte) { return reasoned(s.b, s.failed.at+4*i) }

func reasoned(b []byte, at int) (Tokens, []byte) {
	pos := deref(b, at)
	text := deref(b, pos+entry(b, pos, 1))
	return tokens(b, pos+entry(b, pos, 0)), vectorBytes(b, text)
}

// deref, entry, tokens and vectorBytes read what the reader has verified.
func deref(b []byte, pos int) int { return pos + int(binary.LittleEndian.Uint32(b[pos:])) }

func entry(b []byte, pos, slot int) int {
	vtable := pos - int(int32(binary.LittleEndian.Uint32(b[pos:])))
	if at := 4 + 2*slot; at < int(binary.LittleEndian.Uint16(b[vtable:])) {
		return int(binary.LittleEndian.Uint16(b[vtable+at:]))
	}
	return 0
}

func tokens(b []byte, at int) Tokens {
	pos := deref(b, at)
	end := pos + 4 + 8*int(binary.LittleEndian.Uint32(b[pos:]))
	return Tokens{b[pos+4 : end : end]}
}

func vectorBytes(b []byte, pos int) []byte {
	end := pos + 4 + int(binary.LittleEndian.Uint32(b[pos:]))
	return b[pos+4 : end : end]
}

// sidecar judges an AckSidecar.
func (r *reader) sidecar(parent table, slot int) Sidecar {
	r.where = "AckSidecar"
	t := r.child(parent, slot, 4)
	s := Sidecar{b: r.b}
	s.rows = r.vector(t, 0, 4)
	r.rows(&s)
	s.acked = r.sets(t, 1, "AckTokenSet", false)
	s.nacked = r.sets(t, 2, "NackSet", true)
	s.failed = r.sets(t, 3, "MessageErrorSet", true)
	return s
}

func (r *reader) sets(parent table, slot int, name string, reason bool) span {
	r.where = "AckSidecar"
	s := r.vector(parent, slot, 4)
	r.where = name
	slots := 1
	if reason {
		slots = 2
	}
	for i := 0; i < s.n && r.bad == nil; i++ {
		t := r.table(r.follow(s.at+4*i), slots)
		r.vector(t, 0, 8)
		if reason {
			r.text(t, 1)
		}
	}
	return s
}

// rowLayout is the vtable that rows share, judged once, and the places of the two members in the table; sourceAt is zero if it is absent.
type rowLayout struct {
	table
	tokensAt, sourceAt int
}

// rows judges the rows. Almost always they share one vtable and have one token each: then a row costs a few comparisons.
func (r *reader) rows(s *Sidecar) {
	r.where = "OutputRow"
	s.uniform = true
	var known rowLayout
	for i := 0; i < s.rows.n && r.bad == nil; i++ {
		if known.vtable != 0 {
			if i == 1 && r.evenRows(s.rows.at, s.rows.n, &known) {
				s.evenAt = known.pos
				break
			}
			if i += r.singleRows(s.rows.at+4*i, s.rows.n-i, &known); i == s.rows.n {
				break
			}
		}
		before := known
		r.row(r.follow(s.rows.at+4*i), &known)
		s.uniform = s.uniform && (i == 0 || before.tokensAt == known.tokensAt && before.sourceAt == known.sourceAt)
	}
	if s.rows.n == 1 && r.bad == nil && r.evenRows(s.rows.at, 1, &known) {
		s.evenAt = known.pos
	}
	s.tokensAt, s.sourceAt = uint16(known.tokensAt), uint16(known.sourceAt)
}

// singleRows passes over rows of the known layout with one token, and stops before the first row that is not so plainly right. at is the place of the
// first offset of n. The result is the number of rows passed.
func (r *reader) singleRows(at, n int, known *rowLayout) (passed int) {
	b, end := r.b, r.end
	last := len(b) - max(known.inline, 12) // the last position of a table, and of a vector with one token
	for ; passed < n; passed++ {
		pos := at + int(binary.LittleEndian.Uint32(b[at:]))
		if pos == at || pos > last || pos&3 != 0 || pos-int(int32(binary.LittleEndian.Uint32(b[pos:]))) != known.vtable {
			break
		}
		member := pos + known.tokensAt
		list := member + int(binary.LittleEndian.Uint32(b[member:]))
		if list > last || list&7 != 4 || binary.LittleEndian.Uint32(b[list:]) != 1 || member&3 != 0 || known.sourceAt != 0 && (pos+known.sourceAt)&7 != 0 {
			break
		}
		end = max(end, pos+known.inline, list+12)
		at += 4
	}
	r.end = end
	r.tables -= passed
	if r.apparent -= passed * (known.inline + 4 + 2*known.slots + 12); r.tables < 0 || r.apparent < 0 {
		r.broken(verify.RuleSize, at)
	}
	return passed
}

// row judges one row of any kind.
func (r *reader) row(pos int, known *rowLayout) {
	if r.bad != nil {
		return
	}
	if known.vtable == 0 || pos-int(int32(binary.LittleEndian.Uint32(r.b[pos:]))) != known.vtable || pos+known.inline > len(r.b) {
		known.table = r.table(pos, 2)
		known.tokensAt, known.sourceAt = r.required(known.table, 0)-pos, max(r.place(known.table, 1, 8)-pos, 0)
	} else {
		r.visited(pos + known.inline)
		r.tables--
		r.spend(known.inline+4+2*known.slots, pos)
	}
	if r.bad != nil {
		return
	}
	at := pos + known.tokensAt
	list := at + r.u32(at)
	switch {
	case at%4 != 0 || list%4 != 0 || known.sourceAt != 0 && (pos+known.sourceAt)%8 != 0:
		r.broken(verify.RuleAlignment, at)
		return
	case list == at || list > len(r.b)-4:
		r.broken(verify.RuleOffset, at)
		return
	}
	n := r.u32(list)
	switch {
	case n > (len(r.b)-list-4)/8:
		r.broken(verify.RuleOffset, list)
		return
	case n > 0 && (list+4)%8 != 0:
		r.broken(verify.RuleAlignment, list)
		return
	}
	r.visited(list + 4 + 8*n)
	if r.spend(4+8*n, list); r.tables < 0 {
		r.broken(verify.RuleTables, pos)
	}
}
