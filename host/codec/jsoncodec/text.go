// SPDX-License-Identifier: Apache-2.0

package jsoncodec

import (
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/nervix-go/nervix/host/codec"
)

// text scans a string from behind its opening quote and checks all of it. It returns the place of the closing quote, and whether
// there are escapes; -1 if it failed.
func (d *decoder) text(i int) (quote int, escaped bool) {
	buf, begin := d.buf, i
	for i+8 <= len(buf) {
		m := stops(load(buf, i))
		if m == 0 {
			i += 8
			continue
		}
		i += first(m)
		if i < d.end && buf[i] == '"' {
			return i, false
		}
		break
	}
	return d.textSlow(begin, min(i, d.end))
}

// textSlow goes on at i, which is anywhere in the string begun at begin, and meets everything that text did not expect.
func (d *decoder) textSlow(begin, i int) (quote int, escaped bool) {
	buf := d.buf[:d.end]
	foreign := false
	for i < len(buf) {
		if i+8 <= len(buf) {
			w := load(buf, i)
			m := escapes(w)
			if m == 0 {
				foreign = foreign || w&highs != 0
				i += 8
				continue
			}
			n := first(m)
			foreign = foreign || w&highs<<uint(64-8*n) != 0
			i += n
		}
		switch c := buf[i]; {
		case c == '"':
			if at := invalidUTF8(buf[begin:i], foreign); at >= 0 {
				return d.failText(begin+at, "invalid UTF-8"), false
			}
			return i, escaped
		case c == '\\':
			if !d.earlier(begin, i, foreign) {
				return -1, false
			}
			escaped = true
			n := d.escape(i)
			if n < 0 {
				return -1, false
			}
			i += n
		case c < 0x20:
			if !d.earlier(begin, i, foreign) {
				return -1, false
			}
			return d.failText(i, "a raw control byte in a string"), false
		default:
			foreign = foreign || c >= 0x80
			i++
		}
	}
	if !d.earlier(begin, i, foreign) {
		return -1, false
	}
	return d.failEndAt(i), false
}

// earlier makes sure that what stands before a fault at i is sound, so that the first fault is the one reported.
func (d *decoder) earlier(begin, i int, foreign bool) bool {
	if !foreign {
		return true
	}
	at := invalidUTF8(d.buf[begin:i], true)
	if at >= 0 {
		d.failText(begin+at, "invalid UTF-8")
	}
	return at < 0
}

// invalidUTF8 is the place of the first byte that is not UTF-8; -1 if there is none.
func invalidUTF8(b []byte, foreign bool) int {
	if !foreign || utf8.Valid(b) {
		return -1
	}
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return -1
}

// escape checks the escape at i and returns its length; -1 if it failed. A surrogate pair is one escape of 12 bytes.
func (d *decoder) escape(i int) int {
	buf := d.buf[:d.end]
	if i+1 >= len(buf) {
		return d.failEndAt(len(buf))
	}
	switch buf[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
	default:
		d.fail(codec.Syntax, i, "an unknown escape in a string")
		return -1
	}
	unit, ok := hex4(buf, i+2)
	if !ok {
		if i+6 > len(buf) {
			return d.failEndAt(len(buf))
		}
		d.fail(codec.Syntax, i, `\u without four hexadecimal digits`)
		return -1
	}
	if !utf16.IsSurrogate(rune(unit)) {
		return 6
	}
	if unit < 0xdc00 && i+8 <= len(buf) && buf[i+6] == '\\' && buf[i+7] == 'u' {
		if low, ok := hex4(buf, i+8); ok && low >= 0xdc00 && low <= 0xdfff {
			return 12
		}
	}
	return d.failText(i, "a lone surrogate")
}

// hex4 reads four hexadecimal digits.
func hex4(b []byte, i int) (v uint16, ok bool) {
	if i+4 > len(b) {
		return 0, false
	}
	for _, c := range b[i : i+4] {
		switch {
		case c >= '0' && c <= '9':
			v = v<<4 | uint16(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			v = v<<4 | uint16(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return v, true
}

// unescape writes a checked string without its escapes and returns its length, which is at most len(src). dst has room for len(src).
func unescape(dst, src []byte) int {
	w := 0
	for i := 0; i < len(src); {
		if i+8 <= len(src) {
			word := binary.LittleEndian.Uint64(src[i:])
			binary.LittleEndian.PutUint64(dst[w:], word) // w <= i, so there is room
			n := first(escapes(word))
			i, w = i+n, w+n
			if n == 8 {
				continue
			}
		}
		if src[i] != '\\' {
			dst[w] = src[i]
			i, w = i+1, w+1
			continue
		}
		n, size := unescapeOne(dst[w:], src[i:])
		i, w = i+n, w+size
	}
	return w
}

// unescapeOne writes what the escape at the start of src means; n is what it took.
func unescapeOne(dst, src []byte) (n, size int) {
	switch src[1] {
	case 'b':
		dst[0] = '\b'
	case 'f':
		dst[0] = '\f'
	case 'n':
		dst[0] = '\n'
	case 'r':
		dst[0] = '\r'
	case 't':
		dst[0] = '\t'
	case 'u':
		unit, _ := hex4(src, 2)
		n, r := 6, rune(unit)
		if utf16.IsSurrogate(r) {
			low, _ := hex4(src, 8)
			n, r = 12, utf16.DecodeRune(r, rune(low))
		}
		return n, utf8.EncodeRune(dst, r)
	default:
		dst[0] = src[1]
	}
	return 2, 1
}
