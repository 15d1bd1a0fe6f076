// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"encoding/binary"

	"github.com/nervix-go/nervix/host/wire/verify"
)

// Rows lie evenly when their tables follow one another as the host writes them (encode_input.go): 32 bytes each, with the tokens' offset at 4, the source at 8, and
// the vector of one token at 20. A guest that hands its rows on as they came, or takes them from a list of its own, writes them so too. Such rows
// are judged and read without following an offset.
const (
	evenTokens = 4
	evenSource = 8
	evenList   = 16 // from the tokens' member to their vector
)

// evenRows judges rows 1 to n-1, whose offsets begin at offsets[1], by comparing them with what the host would have written behind row 0, which is known.
// Nothing is noted unless all are so.
func (r *reader) evenRows(offsets, n int, known *rowLayout) bool {
	first := known.pos
	if known.inline != 16 || known.tokensAt != evenTokens || known.sourceAt != evenSource || first%8 != 0 || n > (len(r.b)-first)/rowBytes {
		return false
	}
	at := r.b[offsets : offsets+4*n]
	rows := r.b[first : first+rowBytes*n]
	distance, table := uint32(first-offsets), uint64(uint32(first-known.vtable))|evenList<<32
	var differ uint64
	for len(at) >= 4 && len(rows) >= rowBytes {
		row := rows[:rowBytes:rowBytes]
		differ |= uint64(binary.LittleEndian.Uint32(at)^distance) | (binary.LittleEndian.Uint64(row) ^ table) | (binary.LittleEndian.Uint64(row[16:])>>32 ^ 1)
		distance += rowBytes - 4
		table += rowBytes
		at, rows = at[4:], rows[rowBytes:]
	}
	if differ != 0 {
		return false
	}
	r.visited(first + rowBytes*n)
	r.tables -= n - 1
	if r.spend((n-1)*(known.inline+4+2*known.slots+12), offsets); r.tables < 0 {
		r.broken(verify.RuleTables, first)
	}
	return true
}

// whole finds the selection of an output whose rows are even and stand for the rows of one batch, all of them in their order, and notes that they are
// carried. It notes nothing if the output is another.
func (l *Ledger) whole(s *Sidecar) (all Selection, ok bool) {
	if s.evenAt == 0 {
		return Selection{}, false
	}
	rows := s.b[s.evenAt : s.evenAt+rowBytes*s.rows.n]
	token := binary.LittleEndian.Uint64(rows[8:])
	b, at, err := l.find(token)
	if err != nil || at != 0 || b.rows != s.rows.n || b.fates != nil || b.same >= FateAcked-1 {
		return Selection{}, false
	}
	var differ uint64
	for len(rows) >= rowBytes {
		row := rows[:rowBytes:rowBytes]
		differ |= (binary.LittleEndian.Uint64(row[8:]) ^ token) | (binary.LittleEndian.Uint64(row[24:]) ^ token)
		token++
		rows = rows[rowBytes:]
	}
	if differ != 0 {
		return Selection{}, false
	}
	l.touch(b)
	b.same++
	return Selection{Class: SelectAll, Batch: b.first, Count: b.rows, Plain: true}, true
}
