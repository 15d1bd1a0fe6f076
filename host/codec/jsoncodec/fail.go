// SPDX-License-Identifier: Apache-2.0

package jsoncodec

import (
	"strconv"
	"unicode/utf8"

	"github.com/nervix-go/nervix/host/codec"
)

// noField marks a failure that speaks of no field.
const noField = -1

// maxNameShown bounds how much of a foreign field name a message repeats.
const maxNameShown = 64

// failure is why a payload is refused; the text is only put together once it is needed.
type failure struct {
	reason codec.Reason
	at     int // in the payload column
	field  int
	text   string
	found  bool   // say what stands at the place
	name   string // a field name that the plan does not know
}

// fail notes a failure without a field. It returns false so that it can end a function.
func (d *decoder) fail(reason codec.Reason, at int, text string) bool {
	d.bad = failure{reason: reason, at: at, field: noField, text: text}
	return false
}

func (d *decoder) failFound(reason codec.Reason, at, field int, text string) bool {
	d.bad = failure{reason: reason, at: at, field: field, text: text, found: true}
	return false
}

func (d *decoder) failEnd(at int) bool {
	return d.fail(codec.Truncated, min(at, d.end), "the payload ends inside its object; expected one whole JSON object a line (NDJSON)")
}

// The following return -1 so that they can stand for a place.

func (d *decoder) failEndAt(at int) int {
	d.failEnd(at)
	return -1
}

func (d *decoder) failText(at int, text string) int {
	d.fail(codec.Text, at, text)
	return -1
}

func (d *decoder) failNamed(reason codec.Reason, at, field int, text string) int {
	d.bad = failure{reason: reason, at: at, field: field, text: text}
	return -1
}

func (d *decoder) failType(at, field int) int {
	if c := d.buf[at]; kindOf(c) == "" {
		d.failFound(codec.Syntax, at, field, "expected a value")
		return -1
	}
	d.failFound(codec.Type, at, field, "must be "+d.plan.fields[field].want)
	return -1
}

// failWord is for a bare word that is none of true, false, null.
func (d *decoder) failWord(at int) int {
	for _, w := range []string{"true", "false", "null"} {
		if n := d.end - at; n < len(w) && string(d.buf[at:d.end]) == w[:n] {
			return d.failEndAt(d.end)
		}
	}
	d.fail(codec.Syntax, at, "an unknown word; a value is a string, a number, true, false, null, an object or an array")
	return -1
}

func (d *decoder) failUnknown(at int, name []byte) int {
	shown := name
	if len(shown) > maxNameShown {
		shown = shown[:maxNameShown]
		for len(shown) > 0 && !utf8.Valid(shown) {
			shown = shown[:len(shown)-1]
		}
	}
	d.bad = failure{reason: codec.UnknownField, at: at, field: noField, name: string(shown), text: "is not in the wire schema (MODE STRICT)"}
	return -1
}

// reject puts the message together. It holds names and places, never a value.
func (d *decoder) reject(row int32, begin int) codec.Reject {
	b := d.bad
	text := ""
	switch {
	case b.field != noField:
		text = "field " + strconv.Quote(d.plan.fields[b.field].name) + " "
	case b.reason == codec.UnknownField:
		text = "field " + strconv.Quote(b.name) + " "
	}
	text += b.text
	if b.found && b.at < d.end {
		if kind := kindOf(d.buf[b.at]); kind != "" {
			text += ", found " + kind
		}
	}
	offset := b.at - begin
	return codec.Reject{Row: row, Offset: offset, Reason: b.reason, Text: text + ", at byte " + strconv.Itoa(offset)}
}

// kindOf names the value that begins with c; empty if none does.
func kindOf(c byte) string {
	switch {
	case c == '"':
		return "a string"
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c == 't' || c == 'f':
		return "a boolean"
	case c == 'n':
		return "null"
	case c == '-' || c >= '0' && c <= '9':
		return "a number"
	default:
		return ""
	}
}
