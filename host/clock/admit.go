// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Select tests a column of timestamps and returns how many rows the window admits (C-130). Bit i of dst, least significant bit first as in Arrow, says
// whether Admits(ts[i]) holds and row i is valid; further bits of the last byte are cleared. valid is an Arrow validity bitmap whose bit
// offset+i belongs to ts[i], or nil if every row is valid: a missing timestamp is refused (C-131).
//
// dst must hold at least (len(ts)+7)/8 bytes, valid (offset+len(ts)+7)/8; Select panics otherwise. It allocates nothing, and its time does not
// depend on the timestamps, save where a test needs a division (see kernel).
func (w Window) Select(dst []byte, ts []int64, valid []byte, offset int) (admitted int) {
	dst = dst[:(len(ts)+7)/8]
	blocks := len(ts) / rows
	grouped := blocks &^ (streams*stride - 1)
	for i := range blocks {
		b := i
		if i < grouped {
			b = i&^(streams*stride-1) | i%streams*stride | i/streams%stride
		}
		bitmap := w.word((*[rows]int64)(ts[b*rows:]))
		if valid != nil {
			bitmap &= validity(valid, offset+b*rows)
		}
		binary.LittleEndian.PutUint64(dst[b*rows/8:], bitmap)
		admitted += bits.OnesCount64(bitmap)
	}
	return admitted + w.selectRest(dst[blocks*rows/8:], ts[blocks*rows:], valid, offset+blocks*rows)
}

// A column is tested in blocks of 64 rows, one word of the bitmap each. Long columns are read at four places in turn, one page of 4 KiB apart, because a
// processor prefetches several sequences faster than one.
const (
	rows    = 64
	streams = 4
	stride  = 8 // blocks a page
)

// selectRest tests the rows after the last whole block.
func (w *Window) selectRest(dst []byte, ts []int64, valid []byte, offset int) (admitted int) {
	if len(ts) == 0 {
		return 0
	}
	var padded [rows]int64
	copy(padded[:], ts)
	bitmap := w.word(&padded) & (1<<len(ts) - 1)
	if valid != nil {
		var v [rows/8 + 1]byte
		copy(v[:], valid[offset/8:(offset+len(ts)+7)/8])
		bitmap &= validity(v[:], offset%8)
	}
	for i := range dst {
		dst[i] = byte(bitmap >> (8 * i))
	}
	return bits.OnesCount64(bitmap)
}

// validity is the 64 bits of a bitmap from bit at on.
func validity(bitmap []byte, at int) uint64 {
	b := bitmap[at/8:]
	w := binary.LittleEndian.Uint64(b)
	if shift := at % 8; shift != 0 {
		w = w>>shift | uint64(b[8])<<(64-shift)
	}
	return w
}

// kernel is the test of a window, prepared once for all rows of a group (C-130). Each shape gives exactly the answers of Admits.
type kernel struct {
	shape shape
	// For span and grid: admitted iff timestamp - low, or its remainder, is below limit, all modulo 2^64.
	low, limit uint64
	// For grid: the centre of a timestamp is number ((timestamp - base) >> shift) * factor >> 55, at most last.
	base, factor, last uint64
	shift              uint
}

type shape uint8

const (
	none  shape = iota // admits nothing
	all                // admits every int64
	span               // one range without gaps: two compares, done as one
	grid               // ranges with gaps between them, by multiplication
	plain              // what grid cannot do exactly: Admits itself, with a division
)

// quotientBits is the binary point of the quotients of grid, which are below 256: 55 bits below it leave 9 in a word.
const quotientBits = 55

func (w *Window) prepare() kernel {
	width := uint64(w.high) - uint64(w.low)
	switch {
	case !w.covered():
		return w.prepareGrid()
	case width == math.MaxUint64:
		return kernel{shape: all}
	default:
		return kernel{shape: span, low: uint64(w.low), limit: width + 1}
	}
}

// prepareGrid replaces the division by the period, q = (t-low) / period, with one multiplication by its reciprocal in binary fixed point.
//
// Timestamps are admitted in the first 2*skew+1 instants of each period from low on; the rest of a period is a gap. The product never exceeds the
// true quotient, and in the window it falls short by less than 2^-22: half of that because the shift drops bits, half because the factor is rounded down.
// So that this never takes a timestamp into the period before its own, base lies more than 2^-22 periods before low, inside the gap. Nothing else has to
// be right about the quotient: whatever centre it names, one of the window by the bound last, the final compare is the definition of that
// centre's range, so that a timestamp outside the window, whose product may overflow, is refused by it.
//
// That compare is modulo 2^64, and exact as long as the whole window lies inside the range of int64. Where it does not, and where a gap is too
// narrow for base, Admits does the work.
func (w *Window) prepareGrid() kernel {
	limit := 2*w.skew + 1 // below the period
	gap, margin := w.period-limit, w.period>>22+1
	_, carry := bits.Add64(uint64(w.high)-uint64(w.low), margin, 0)
	if cut := w.low != w.first-int64(w.skew) || w.high != w.last+int64(w.skew); cut || carry != 0 || gap < margin {
		return kernel{shape: plain}
	}
	shift := uint(max(0, bits.Len64(w.period)-24)) // 256 periods, shifted, are below 2^32
	hi, lo := bits.Mul64(1<<quotientBits, 1<<shift)
	factor, _ := bits.Div64(hi, lo, w.period)
	return kernel{shape: grid, low: uint64(w.low), limit: limit, base: uint64(w.low) - margin, factor: factor, last: w.frontier - w.oldest(), shift: shift}
}

// word tests 64 timestamps.
func (w *Window) word(ts *[rows]int64) uint64 {
	k := &w.kernel
	switch k.shape {
	case none:
		return 0
	case all:
		return math.MaxUint64
	case span:
		return spanWord(ts, k.low, k.limit)
	case grid:
		return gridWord(ts, k.low, k.limit, k.base, k.factor, k.last, w.period, k.shift)
	}
	var bitmap uint64
	for i, t := range ts {
		if w.admits(t) {
			bitmap |= 1 << i
		}
	}
	return bitmap
}

// spanWord sets the bits of timestamps t with t-low < limit. The borrow of a compare goes into the word as the carry of an addition, which
// compiles to one instruction each and to no branch. The first row ends as the highest bit, so the word is turned around.
func spanWord(ts *[rows]int64, low, limit uint64) (word uint64) {
	for _, t := range ts {
		_, c := bits.Sub64(uint64(t)-low, limit, 0)
		word, _ = bits.Add64(word, word, c)
	}
	return bits.Reverse64(word)
}

// gridWord sets the bits of timestamps that lie in the range of their centre. See prepareGrid.
func gridWord(ts *[rows]int64, low, limit, base, factor, last, period uint64, shift uint) (word uint64) {
	for _, t := range ts {
		q := min((uint64(t)-base)>>(shift&63)*factor>>quotientBits, last)
		_, c := bits.Sub64(uint64(t)-low-q*period, limit, 0)
		word, _ = bits.Add64(word, word, c)
	}
	return bits.Reverse64(word)
}
