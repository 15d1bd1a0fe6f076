// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"bytes"
	"strconv"
)

// block is the unit of a tar: each header is one, and contents are filled up with zeros to whole ones.
const block = 512

// Fields of a header, as offset and end.
const (
	nameAt, nameEnd   = 0, 100
	modeAt            = 100
	uidAt             = 108
	gidAt             = 116
	sizeAt, sizeEnd   = 124, 136
	timeAt            = 136
	sumAt, sumEnd     = 148, 156
	typeAt            = 156
	magicAt, magicEnd = 257, 265
	majorAt           = 329
	minorAt           = 337
)

// Types of headers that the format has.
const (
	typeFile     = '0'
	typeDir      = '5'
	typeExtended = 'x'
)

const magic = "ustar\x0000"

// extendedName stands in the name field of what has its path in an extended header.
const extendedName = "path-in-extended-header"

// name is the path as a header has it: that of a directory ends with a slash.
func name(e Entry) string {
	if e.Dir {
		return e.Path + "/"
	}
	return e.Path
}

// extended says that the path has a header of its own: it is too long for the name field, or not ASCII.
func extended(e Entry) bool {
	n := name(e)
	if len(n) > nameEnd-nameAt {
		return true
	}
	for i := range len(n) {
		if n[i] >= 0x80 {
			return true
		}
	}
	return false
}

// record is the content of an extended header: its own length, a space, and the path.
func record(e Entry) string {
	rest := " path=" + name(e) + "\n"
	n := len(rest) + 1
	for n != len(rest)+len(strconv.Itoa(n)) {
		n = len(rest) + len(strconv.Itoa(n))
	}
	return strconv.Itoa(n) + rest
}

// AppendHeader appends all headers of an entry, which must have a good path and size.
func AppendHeader(b []byte, e Entry) []byte {
	if !extended(e) {
		return appendBlock(b, name(e), kindOf(e), e.Size)
	}
	content := record(e)
	b = appendBlock(b, extendedName, typeExtended, uint64(len(content)))
	b = append(b, content...)
	b = append(b, make([]byte, padding(uint64(len(content))))...)
	return appendBlock(b, extendedName, kindOf(e), e.Size)
}

func kindOf(e Entry) byte {
	if e.Dir {
		return typeDir
	}
	return typeFile
}

// appendBlock appends one header. Owner, group and time are always zero, and the mode follows the type.
func appendBlock(b []byte, name string, kind byte, size uint64) []byte {
	var h [block]byte
	copy(h[nameAt:nameEnd], name)
	mode := uint64(0o644)
	if kind == typeDir {
		mode = 0o755
	}
	octal(h[modeAt:uidAt], mode)
	octal(h[uidAt:gidAt], 0)
	octal(h[gidAt:sizeAt], 0)
	octal(h[sizeAt:sizeEnd], size)
	octal(h[timeAt:sumAt], 0)
	h[typeAt] = kind
	copy(h[magicAt:magicEnd], magic)
	octal(h[majorAt:minorAt], 0)
	octal(h[minorAt:minorAt+8], 0)
	octal(h[sumAt:sumEnd-1], checksum(&h))
	h[sumEnd-1] = ' '
	return append(b, h[:]...)
}

// octal fills a field with digits and a final NUL.
func octal(field []byte, v uint64) {
	for i := len(field) - 2; i >= 0; i-- {
		field[i] = '0' + byte(v&7)
		v >>= 3
	}
	field[len(field)-1] = 0
}

// checksum is the sum of all bytes, those of the checksum itself counted as spaces.
func checksum(h *[block]byte) uint64 {
	sum := uint64(0)
	for i, c := range h {
		if i >= sumAt && i < sumEnd {
			c = ' '
		}
		sum += uint64(c)
	}
	return sum
}

// number reads a field as octal wrote it.
func number(field []byte) (uint64, bool) {
	last := len(field) - 1
	if field[last] != 0 {
		return 0, false
	}
	v := uint64(0)
	for _, c := range field[:last] {
		if c < '0' || c > '7' {
			return 0, false
		}
		v = v<<3 | uint64(c-'0')
	}
	return v, true
}

// text is a field up to its first NUL.
func text(field []byte) string {
	if i := bytes.IndexByte(field, 0); i >= 0 {
		field = field[:i]
	}
	return string(field)
}

func padding(size uint64) uint64 { return -size & (block - 1) }

func padded(size uint64) uint64 { return size + padding(size) }
