// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// reader reads the binary format. After the first fault everything reads as zero.
type reader struct {
	b   []byte
	at  int
	err error
}

var errEnds = errors.New("it ends early")

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = fmt.Errorf("at byte %d: %w", r.at, err)
	}
	r.at = len(r.b)
}

func (r *reader) more() bool { return r.err == nil && r.at < len(r.b) }

func (r *reader) byte() byte {
	if r.at >= len(r.b) {
		r.fail(errEnds)
		return 0
	}
	r.at++
	return r.b[r.at-1]
}

// leb passes over a number of any sign and at most ten bytes.
func (r *reader) leb() {
	for range 10 {
		if r.byte() < 0x80 {
			return
		}
	}
	r.fail(errors.New("a number is too long"))
}

func (r *reader) u32() uint32 {
	v, n := binary.Uvarint(r.b[min(r.at, len(r.b)):])
	if n <= 0 || n > 5 || v > 1<<32-1 {
		r.fail(errors.New("a number is too long or ends early"))
		return 0
	}
	r.at += n
	return uint32(v)
}

// count is the length of a list whose elements have at least a byte each.
func (r *reader) count() int {
	n := r.u32()
	if int64(n) > int64(len(r.b)-r.at) {
		r.fail(errEnds)
		return 0
	}
	return int(n)
}

func (r *reader) bytes(n uint32) []byte {
	if int64(n) > int64(len(r.b)-r.at) {
		r.fail(errEnds)
		return nil
	}
	r.at += int(n)
	return r.b[r.at-int(n) : r.at : r.at]
}

func (r *reader) name() string { return string(r.bytes(r.u32())) }

// rest is what was not read.
func (r *reader) rest() []byte { return r.b[r.at:] }

func appendU32(b []byte, v uint32) []byte { return binary.AppendUvarint(b, uint64(v)) }

func appendName(b []byte, s string) []byte { return append(appendU32(b, uint32(len(s))), s...) }

// padded writes v over the number of n bytes at the beginning of b.
func padded(b []byte, v uint32, n int) error {
	for i := range n {
		more := byte(0x80)
		if i == n-1 {
			more = 0
		}
		b[i] = byte(v&0x7F) | more
		v >>= 7
	}
	if v != 0 {
		return errors.New("an index needs more room than there is")
	}
	return nil
}

// appendS32 appends a constant.
func appendS32(b []byte, v int32) []byte { return appendS64(b, int64(v)) }

func appendS64(b []byte, v int64) []byte {
	for {
		one := byte(v & 0x7F)
		v >>= 7
		if (v == 0 && one&0x40 == 0) || (v == -1 && one&0x40 != 0) {
			return append(b, one)
		}
		b = append(b, one|0x80)
	}
}
