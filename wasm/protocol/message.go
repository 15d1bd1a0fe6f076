// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/wire/verify"
	"github.com/nervix-go/nervix/wasm/protocol/gen/nervix_wasm"
)

// Identifier stands at bytes 8 to 11 of every message (W-059). Messages of another identifier are refused; there is no negotiation (W-115).
const Identifier = nervix_wasm.IdentifierOfMessage

const (
	prefixBytes = 4
	headerBytes = 12 // size prefix, root offset, identifier
)

// Class is the way in which a message is wrong (gaps 1.8), in the order in which a message meets them.
type Class uint8

// The classes.
const (
	ClassLength        Class = iota + 1 // the size prefix is missing, or declares another length
	ClassIdentifier                     // no or another identifier
	ClassVerification                   // the FlatBuffer is damaged, or a required member is missing
	ClassPayload                        // another variant of the union than expected, or an unknown one
	ClassEnum                           // an enumeration value that is not declared
	ClassElement                        // a container type without its element
	ClassUninitialized                  // an uninitialized column with an index
)

var classNames = [...]string{"", "length mismatch", "invalid identifier", "failed verification", "unexpected payload", "unknown enum", "missing element", "invalid uninitialized index"}

func (c Class) String() string { return classNames[c] }

// MessageError is the cause inside a wasm.message fault. It holds no byte of the message.
type MessageError struct {
	Class Class
	// Expected and Actual are lengths (ClassLength), union variants (ClassPayload); Actual is the value (ClassEnum) or index (ClassUninitialized).
	Expected, Actual uint64
	// Name is the enumeration (ClassEnum) or the place (ClassElement).
	Name string
	// Violation is the broken rule of ClassVerification.
	Violation *verify.Violation
}

// Error names the class and its numbers.
func (e *MessageError) Error() string {
	switch e.Class {
	case ClassLength:
		return fmt.Sprintf("length mismatch: the size prefix asks for %d bytes, there are %d", e.Expected, e.Actual)
	case ClassIdentifier:
		return "invalid identifier: the message is not marked " + Identifier
	case ClassVerification:
		return "failed verification: " + e.Violation.Error()
	case ClassPayload:
		return fmt.Sprintf("unexpected payload: %s expected, %s found", variant(e.Expected), variant(e.Actual))
	case ClassEnum:
		return fmt.Sprintf("unknown enum: %s has no value %d", e.Name, e.Actual)
	case ClassElement:
		return "missing element: " + e.Name + " is a container without element type"
	default:
		return fmt.Sprintf("invalid uninitialized index: an uninitialized column has index %d instead of 0", e.Actual)
	}
}

// Unwrap gives the broken rule, if that is the cause.
func (e *MessageError) Unwrap() error {
	if e.Violation == nil {
		return nil
	}
	return e.Violation
}

func variant(n uint64) string {
	if name, ok := nervix_wasm.EnumNamesMessagePayload[nervix_wasm.MessagePayload(n)]; ok && n <= 255 {
		return name
	}
	return fmt.Sprintf("variant %d", n)
}

// ClassOf finds the class of a refused message in a chain of errors; zero if there is none.
func ClassOf(err error) Class {
	var m *MessageError
	if errors.As(err, &m) {
		return m.Class
	}
	return 0
}

func badMessage(op string, m *MessageError) error {
	return refuse(fault.WasmMessage, op, "the message of the wasm guest is invalid", m)
}

// header judges size prefix and identifier, before anything else is looked at (W-060, W-113).
func header(b []byte) *MessageError {
	if len(b) < prefixBytes {
		return &MessageError{Class: ClassLength, Expected: prefixBytes, Actual: uint64(len(b))}
	}
	if declared := uint64(binary.LittleEndian.Uint32(b)); declared != uint64(len(b)-prefixBytes) {
		return &MessageError{Class: ClassLength, Expected: declared, Actual: uint64(len(b) - prefixBytes)}
	}
	if len(b) < headerBytes || string(b[8:12]) != Identifier {
		return &MessageError{Class: ClassIdentifier}
	}
	return nil
}

// limits are those of a message of the greatest length. Nesting is that of types, which a schema of NSPL bounds far below.
func limits(additive bool) verify.Limits {
	return verify.Limits{MaxBytes: MaxBuffer, MaxDepth: 64, MaxEntries: MaxBuffer / 4, Additive: additive}
}

// verified judges a message without 8-byte members (BranchInit, GuestSnapshot) with the table-driven verifier, whose alignment counts from
// behind the size prefix. A member that the schema does not know is allowed (W-111); bytes that belong to nothing are not, unless
// an unknown member may own them.
func verified(b []byte, want nervix_wasm.MessagePayload) (*nervix_wasm.Message, *MessageError) {
	var r reader
	if _, bad := r.open(b, want); bad != nil {
		return nil, bad
	}
	frame := b[prefixBytes:]
	err := verify.Verify(&nervix_wasm.Schema, nervix_wasm.RootMessage, frame, limits(false))
	var v *verify.Violation
	if errors.As(err, &v) && v.Rule == verify.RuleUnknownMember {
		err = verify.Verify(&nervix_wasm.Schema, nervix_wasm.RootMessage, frame, limits(true))
	}
	if !errors.As(err, &v) {
		return nervix_wasm.GetRootAsMessage(frame, 0), nil
	}
	if v.Rule == verify.RuleEnum { // ProcessorTypeKind is the only enumeration of these messages
		return nil, &MessageError{Class: ClassEnum, Name: "ProcessorTypeKind", Actual: uint64(frame[v.Offset])}
	}
	return nil, &MessageError{Class: ClassVerification, Violation: v}
}

// open judges the header and the root, and finds the payload. Another variant is told before the payload is looked at.
func (r *reader) open(b []byte, want nervix_wasm.MessagePayload) (payload int, bad *MessageError) {
	if bad := header(b); bad != nil {
		return 0, bad
	}
	n := len(b) - prefixBytes
	*r = reader{b: b, where: "Message", tables: max(1, n/4), apparent: 8 * n}
	if n > MaxBuffer {
		r.broken(verify.RuleTooLarge, prefixBytes)
		return 0, r.bad
	}
	root := r.table(r.follow(prefixBytes), 2)
	kind := r.byte(root, 0)
	switch {
	case r.bad != nil:
		return 0, r.bad
	case kind == 0:
		r.broken(verify.RuleRequired, root.pos)
	case kind != byte(want):
		return 0, &MessageError{Class: ClassPayload, Expected: uint64(want), Actual: uint64(kind)}
	}
	return r.follow(r.required(root, 1)), r.bad
}
