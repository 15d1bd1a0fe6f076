// SPDX-License-Identifier: Apache-2.0

package jsoncodec

import "github.com/nervix-go/nervix/host/codec"

// skipSpace returns the first place at or after i that is no JSON space; d.end if there is none. i may be beyond d.end.
func (d *decoder) skipSpace(i int) int {
	for i < d.end {
		switch d.buf[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return d.end
}

// colon finds the colon after a name the slow way and returns what is behind it.
func (d *decoder) colon(i int) int {
	if i = d.skipSpace(i); i >= d.end {
		return d.failEndAt(i)
	}
	if d.buf[i] != ':' {
		d.fail(codec.Syntax, i, "expected ':' after a field name")
		return -1
	}
	return i + 1
}

// name reads a field name that was not the expected one. f is -1 for a field to be skipped; next is -1 if it failed.
func (d *decoder) name(i, last int) (f, next int) {
	if d.buf[i] != '"' {
		d.failFound(codec.Syntax, i, noField, "expected a field name in quotes")
		return 0, -1
	}
	quote, escaped := d.text(i + 1)
	if quote < 0 {
		return 0, -1
	}
	raw := d.buf[i+1 : quote]
	if escaped {
		raw = d.unescaped(raw)
	}
	f, known := d.plan.byName[string(raw)]
	switch {
	case known:
		d.next[last] = f
		return f, quote + 1
	case d.plan.strict:
		return 0, d.failUnknown(i, raw)
	default:
		return noField, quote + 1
	}
}

// unescaped is a name without its escapes, in scratch memory that stays small; a name too long to be one of ours stays as it is.
func (d *decoder) unescaped(raw []byte) []byte {
	most := 6 * max(d.plan.longestName, maxTimeText) // an escape of six bytes may stand for one
	if len(raw) > most {
		return raw
	}
	if cap(d.scratch) < len(raw) {
		d.scratch = make([]byte, most)
	}
	return d.scratch[:unescape(d.scratch[:len(raw)], raw)]
}

// nest remembers for each open container whether it is an object.
type nest struct {
	bits  [maxDepth / 64]uint64
	depth int
}

func (n *nest) push(object bool) {
	word, bit := n.depth>>6, uint64(1)<<(n.depth&63)
	n.bits[word] &^= bit
	if object {
		n.bits[word] |= bit
	}
	n.depth++
}

func (n *nest) object() bool { d := n.depth - 1; return n.bits[d>>6]>>(d&63)&1 == 1 }

// skipValue checks a value that is dropped and returns what is behind it; -1 if it failed. It does not recurse.
func (d *decoder) skipValue(i int) int {
	var open nest
	for {
		c := d.buf[i]
		if c == '{' || c == '[' {
			if open.depth+1 >= maxDepth { // the payload's own object is one
				d.fail(codec.Depth, i, "nested deeper than 128")
				return -1
			}
			open.push(c == '{')
			if i = d.skipSpace(i + 1); i >= d.end {
				return d.failEndAt(i)
			}
			if d.buf[i] != c+2 { // '}' and ']' are two after their openers
				if c == '{' {
					i = d.skipName(i)
				}
				if i < 0 {
					return -1
				}
				continue
			}
			open.depth--
			i++
		} else if i = d.skipScalar(i); i < 0 {
			return -1
		}
		var more bool
		if i, more = d.afterValue(&open, i); !more {
			return i
		}
	}
}

// afterValue closes containers and stops before the next value; more is false when the outermost value is over or has failed.
func (d *decoder) afterValue(open *nest, i int) (next int, more bool) {
	for open.depth > 0 {
		if i = d.skipSpace(i); i >= d.end {
			return d.failEndAt(i), false
		}
		closer := byte(']')
		if open.object() {
			closer = '}'
		}
		switch d.buf[i] {
		case closer:
			open.depth--
			i++
		case ',':
			if i = d.skipSpace(i + 1); i >= d.end {
				return d.failEndAt(i), false
			}
			if open.object() {
				i = d.skipName(i)
			}
			return i, i >= 0
		default:
			d.failFound(codec.Syntax, i, noField, "expected ',' or the end of the object or array")
			return -1, false
		}
	}
	return i, false
}

// skipName checks a name and its colon and stops at the value.
func (d *decoder) skipName(i int) int {
	if d.buf[i] != '"' {
		d.failFound(codec.Syntax, i, noField, "expected a field name in quotes")
		return -1
	}
	i, _ = d.text(i + 1)
	if i < 0 {
		return -1
	}
	if i = d.colon(i + 1); i < 0 {
		return -1
	}
	if i = d.skipSpace(i); i >= d.end {
		return d.failEndAt(i)
	}
	return i
}

// skipScalar checks a string, number or word.
func (d *decoder) skipScalar(i int) int {
	switch c := d.buf[i]; {
	case c == '"':
		quote, _ := d.text(i + 1)
		if quote < 0 {
			return -1
		}
		return quote + 1
	case c == '-' || c >= '0' && c <= '9':
		n := d.number(i)
		return n.end
	case d.word(i, "true"), d.word(i, "null"):
		return i + 4
	case d.word(i, "false"):
		return i + 5
	case c == 't' || c == 'f' || c == 'n':
		return d.failWord(i)
	default:
		d.failFound(codec.Syntax, i, noField, "expected a value")
		return -1
	}
}
