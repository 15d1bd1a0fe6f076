// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"math"
	"strconv"

	"github.com/nervix-go/nervix/wasm/guest/go/internal/flat"
)

// StateWriter writes state. Numbers are little-endian; texts and bytes have their length before them.
type StateWriter struct{ out []byte }

// Uint8 writes a number; the others are named alike.
func (w *StateWriter) Uint8(v uint8) { w.out = append(w.out, v) }

// Uint32 writes a number.
func (w *StateWriter) Uint32(v uint32) {
	w.out = append(w.out, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
}

// Uint64 writes a number.
func (w *StateWriter) Uint64(v uint64) {
	w.Uint32(uint32(v))
	w.Uint32(uint32(v >> 32))
}

// Int64 writes a number.
func (w *StateWriter) Int64(v int64) { w.Uint64(uint64(v)) }

// Float64 writes a number.
func (w *StateWriter) Float64(v float64) { w.Uint64(math.Float64bits(v)) }

// Time writes an instant.
func (w *StateWriter) Time(v Time) { w.Int64(v.sinceEpoch) }

// String writes a text.
func (w *StateWriter) String(v string) {
	w.Uint32(uint32(len(v)))
	w.out = append(w.out, v...)
}

// Bytes writes bytes.
func (w *StateWriter) Bytes(v []byte) {
	w.Uint32(uint32(len(v)))
	w.out = append(w.out, v...)
}

// Raw writes bytes without their length.
func (w *StateWriter) Raw(v []byte) { w.out = append(w.out, v...) }

// StateReader reads in the same order. Behind the end everything reads as zero, and End fails.
type StateReader struct {
	state []byte
	at    int
	short bool
}

// State is all of the state, lent until Restore returns.
func (r *StateReader) State() []byte { return r.state }

func (r *StateReader) take(n int) []byte {
	if r.short || n < 0 || n > len(r.state)-r.at {
		r.short = true
		return nil
	}
	r.at += n
	return r.state[r.at-n : r.at : r.at]
}

// Uint8 reads a number; the others are named alike.
func (r *StateReader) Uint8() uint8 {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

// Uint32 reads a number.
func (r *StateReader) Uint32() uint32 {
	if b := r.take(4); b != nil {
		return flat.Get32(b)
	}
	return 0
}

// Uint64 reads a number.
func (r *StateReader) Uint64() uint64 {
	if b := r.take(8); b != nil {
		return flat.Get64(b)
	}
	return 0
}

// Int64 reads a number.
func (r *StateReader) Int64() int64 { return int64(r.Uint64()) }

// Float64 reads a number.
func (r *StateReader) Float64() float64 { return math.Float64frombits(r.Uint64()) }

// Time reads an instant.
func (r *StateReader) Time() Time { return Time{r.Int64()} }

// String reads a text, a copy.
func (r *StateReader) String() string { return string(r.Bytes()) }

// Bytes lends bytes until Restore returns.
func (r *StateReader) Bytes() []byte {
	n := r.Uint32()
	if n > maxMessage {
		r.short = true
		return nil
	}
	return r.take(int(n))
}

// End is nil if the state was read exactly to its end: return it from Restore.
func (r *StateReader) End() error {
	switch {
	case r.short:
		return Failure("the state ends early, after " + strconv.Itoa(len(r.state)) + " bytes")
	case r.at < len(r.state):
		return Failure("the state has " + strconv.Itoa(len(r.state)-r.at) + " bytes more than this guest wrote")
	}
	return nil
}
