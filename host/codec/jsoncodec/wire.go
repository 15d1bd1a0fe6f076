// SPDX-License-Identifier: Apache-2.0

package jsoncodec

import "strings"

// Mode says what happens to a payload field that the wire schema does not name.
type Mode uint8

// Strict refuses the payload, Loose drops the field. Strict also refuses a field that stands twice; in Loose the last one wins (Q52).
const (
	Strict Mode = iota
	Loose
)

// WireType is a type of a WIRE JSON SCHEMA (nspl 5.1).
type WireType uint8

// The wire types. Bytes and Array are words of the language that this codec does not bind yet.
const (
	Integer WireType = iota + 1
	Number
	Boolean
	String
	Bytes
	Array
)

var wireWords = [...]string{Integer: "INTEGER", Number: "NUMBER", Boolean: "BOOLEAN", String: "STRING", Bytes: "BYTES", Array: "ARRAY"}

// String is the canonical upper-case word.
func (w WireType) String() string {
	if w >= Integer && int(w) < len(wireWords) {
		return wireWords[w]
	}
	return "INVALID"
}

// ParseWireType reads a wire type word in any case.
func ParseWireType(word string) (WireType, bool) {
	upper := strings.ToUpper(word)
	for w := Integer; w <= Array; w++ {
		if wireWords[w] == upper {
			return w, true
		}
	}
	return 0, false
}

// WireTypeWords lists the words for a diagnostic (Q8).
func WireTypeWords() []string { return append([]string(nil), wireWords[Integer:]...) }

// WireField is one field of a wire schema. Name has the spelling that payloads use, compared exactly (Q51).
type WireField struct {
	Name     string
	Type     WireType
	Optional bool
}
