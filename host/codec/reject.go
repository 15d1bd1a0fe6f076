// SPDX-License-Identifier: Apache-2.0

package codec

// Reason says in what way a payload or row does not fit. The words are metric labels and are never renamed.
type Reason uint8

// The reasons of all formats.
const (
	Empty          Reason = iota // no value at all
	Truncated                    // the payload ends inside its value
	Trailing                     // something follows the value
	Syntax                       // not the format's grammar
	Text                         // invalid UTF-8, a lone surrogate, a raw control byte
	Depth                        // nested deeper than the limit
	Type                         // another type than the wire schema's
	Range                        // the right type, but outside what the field holds
	Missing                      // a required field is absent or null
	UnknownField                 // STRICT: a field the wire schema does not name
	DuplicateField               // STRICT: a field twice
	Unwritable                   // encode: a value the format has no form for
)

var reasonWords = [...]string{
	Empty: "empty", Truncated: "truncated", Trailing: "trailing", Syntax: "syntax", Text: "text", Depth: "depth", Type: "type", Range: "range",
	Missing: "missing", UnknownField: "unknown_field", DuplicateField: "duplicate_field", Unwritable: "unwritable",
}

// String is the word used as a metric label.
func (r Reason) String() string {
	if int(r) < len(reasonWords) {
		return reasonWords[r]
	}
	return "other"
}

// Reject is one payload that gave no message, or one row that gave no payload.
type Reject struct {
	// Row is the index in the payload column or record.
	Row int32
	// Offset is where in the payload, in bytes from 0; 0 when encoding.
	Offset int
	Reason Reason
	// Text says what is wrong and where, with names of fields but never a value (nspl 9.4).
	Text string
}
