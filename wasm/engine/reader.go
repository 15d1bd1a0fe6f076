// SPDX-License-Identifier: Apache-2.0

package engine

import "fmt"

// reader walks the bytes of a module. The first failure sticks; every length is checked against what is left before it is used.
type reader struct {
	b   []byte
	at  int
	err error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("at byte %d: %s", r.at, fmt.Sprintf(format, args...))
		r.b, r.at = nil, 0
	}
}

func (r *reader) left() int { return len(r.b) - r.at }

func (r *reader) byte() byte {
	if r.left() < 1 {
		r.fail("the module ends early")
		return 0
	}
	r.at++
	return r.b[r.at-1]
}

func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(r.left()) {
		r.fail("a length of %d is larger than what is left", n)
		return nil
	}
	r.at += int(n)
	return r.b[r.at-int(n) : r.at]
}

// uleb reads an unsigned LEB128 of at most bits bits.
func (r *reader) uleb(bits uint) uint64 {
	var v uint64
	for shift := uint(0); ; shift += 7 {
		c := r.byte()
		if r.err != nil {
			return 0
		}
		if shift >= bits || bits-shift < 7 && c>>(bits-shift) != 0 && c < 0x80 || bits-shift < 7 && c >= 0x80 {
			r.fail("a number has more than %d bits", bits)
			return 0
		}
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
}

func (r *reader) u32() uint32 { return uint32(r.uleb(32)) }

// count reads the length of a vector whose elements take at least one byte each.
func (r *reader) count() int {
	n := r.u32()
	if uint64(n) > uint64(r.left()) {
		r.fail("a vector of %d elements is larger than what is left", n)
		return 0
	}
	return int(n)
}

// name gives a name as text; it lives as long as the module's bytes are kept by the string.
func (r *reader) name() string { return string(r.bytes(r.u32())) }

// section gives a reader over the next n bytes.
func (r *reader) section(n uint32) reader {
	start := r.at
	body := r.bytes(n)
	if r.err != nil {
		return reader{err: r.err}
	}
	return reader{b: r.b[:start+len(body)], at: start}
}
