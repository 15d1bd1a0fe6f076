// SPDX-License-Identifier: Apache-2.0

// Package fault holds errors and diagnostics. A code says who has to act and whether a retry helps; both belong to the code, not to the
// place that raises it. Nobody branches on text. Row outcomes (filtered, late, duplicate) are counters, not faults.
package fault

import (
	"errors"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Code is a dotted stable name such as `relay.full`. It is never renamed or reused.
type Code string

// Class says who has to act.
type Class uint8

// The classes. ClassUser: mend the statement or configuration. ClassExternal: another system failed. ClassInternal: a defect of ours.
// ClassCapacity: slow down, nothing was judged.
const (
	ClassInternal Class = iota
	ClassUser
	ClassExternal
	ClassCapacity
)

func (c Class) String() string {
	return [...]string{"internal", "user", "external", "capacity"}[c&3]
}

// Retry says whether repeating the same input can help.
type Retry uint8

// The retry hints.
const (
	RetryNever Retry = iota
	RetrySame
	RetryAfterBackoff
	RetryElsewhere
)

// Entry is one line of the catalogue.
type Entry struct {
	Code  Code
	Class Class
	Retry Retry
	// Meaning is one sentence for the documentation page.
	Meaning string
	// Hint says what to do about it.
	Hint string
}

// Error is a fault with a code. Detail is for people and holds no payload value and no secret.
type Error struct {
	Code    Code
	Op      string    // the operation, `relay.Publish`
	Subject ident.Ref // the object concerned, or zero
	Detail  string    // what is wrong, in one clause
	Remote  bool      // reported by a connector or a peer
	Err     error     // the cause
}

// New builds an Error. cause may be nil.
func New(code Code, op string, subject ident.Ref, detail string, cause error) *Error {
	return &Error{Code: code, Op: op, Subject: subject, Detail: detail, Err: cause}
}

// Error prints subject, detail, the whole chain of causes and the code.
func (e *Error) Error() string {
	var b strings.Builder
	if s := e.Subject.String(); s != "" {
		b.WriteString(s)
		b.WriteString(": ")
	}
	switch {
	case e.Detail != "":
		b.WriteString(e.Detail)
	default:
		b.WriteString(Lookup(e.Code).Meaning)
	}
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	b.WriteString(" [")
	b.WriteString(string(e.Code))
	b.WriteString("]")
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is compares codes, so that errors.Is(err, &fault.Error{Code: c}) works.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Class is looked up by code.
func (e *Error) Class() Class { return Lookup(e.Code).Class }

// Retry is looked up by code.
func (e *Error) Retry() Retry { return Lookup(e.Code).Retry }

// CodeOf finds the code of the outermost fault in a chain; empty if there is none.
func CodeOf(err error) Code {
	var f *Error
	if errors.As(err, &f) {
		return f.Code
	}
	var d Diagnostics
	if errors.As(err, &d) && len(d) > 0 {
		return d[0].Code
	}
	return ""
}

// Has says whether err carries the code.
func Has(err error, code Code) bool { return errors.Is(err, &Error{Code: code}) }
