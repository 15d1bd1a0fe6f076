// SPDX-License-Identifier: Apache-2.0

package control

import (
	"errors"
	"strconv"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Request is one text of a session (nspl 1.1).
type Request struct {
	// Reference names the execution for ever. Zero: control makes one, and Outcome tells it.
	Reference ident.Reference
	User      ident.Name   // authenticated
	Domain    ident.Domain // selected by USE; empty for none
	Text      string
	// Transaction is the open transaction the session is bound to; zero for none.
	Transaction ident.Reference
}

// Disposition says what is known about the effect.
type Disposition uint8

// The dispositions. Unknown: the effect may or may not have happened; the same reference settles it.
const (
	Completed Disposition = 1
	Failed    Disposition = 2
	Unknown   Disposition = 3
)

func (d Disposition) String() string {
	switch d {
	case Completed:
		return "completed"
	case Failed:
		return "failed"
	default:
		return "unknown"
	}
}

// StatementOutcome is the answer to one statement of a request.
type StatementOutcome struct {
	Number         int // from 1, in written order
	Disposition    Disposition
	Text           string
	JSON           []byte // data of an inspection that asked for JSON
	AlreadyExisted bool
	// Operation is the operation number that a queued statement got; zero otherwise.
	Operation   uint32
	Diagnostics fault.Diagnostics
}

// Outcome is the answer to a request. Text, AlreadyExisted and Diagnostics are those of the statement that decided it: the failed one, else
// the last. Statements holds one entry for each statement that was looked at.
type Outcome struct {
	Disposition    Disposition
	Reference      ident.Reference
	AlreadyExisted bool
	Text           string
	JSON           []byte
	Statements     []StatementOutcome
	Diagnostics    fault.Diagnostics
	// Domain and Transaction are what the session has selected and bound after the request.
	Domain      ident.Domain
	Transaction ident.Reference
	// Commit is what became of the operations when the last statement is a COMMIT that was admitted; nil otherwise.
	Commit *CommitReport
	// Recovered says that the outcome was kept from an earlier execution of the reference.
	Recovered bool
}

// Code is the code of the first diagnostic; empty for none.
func (o Outcome) Code() fault.Code {
	if len(o.Diagnostics) == 0 {
		return ""
	}
	return o.Diagnostics[0].Code
}

// complaint is a diagnostic without a place; its hint is that of the code.
func complaint(stage fault.Stage, code fault.Code, message string) fault.Diagnostic {
	return fault.Diagnostic{Stage: stage, Code: code, Message: message, Hint: fault.Lookup(code).Hint}
}

// complaintAt is complaint at a place of the text.
func complaintAt(stage fault.Stage, code fault.Code, span fault.Span, message string) fault.Diagnostic {
	return fault.At(stage, code, span, message, fault.Lookup(code).Hint)
}

// fromError turns an error of a port into diagnostics; a list of diagnostics stays one.
func fromError(stage fault.Stage, fallback fault.Code, err error) fault.Diagnostics {
	var list fault.Diagnostics
	if errors.As(err, &list) && len(list) > 0 {
		return list
	}
	code := fault.CodeOf(err)
	if code == "" {
		code = fallback
	}
	return fault.Diagnostics{complaint(stage, code, strings.TrimSuffix(err.Error(), " ["+string(code)+"]"))}
}

// answer is the result of one statement inside control.
type answer struct {
	text           string
	json           []byte
	alreadyExisted bool
	operation      uint32
	diagnostics    fault.Diagnostics
	unknown        bool
	recovered      bool
	domain         ident.Domain    // set by USE
	transaction    ident.Reference // set by BEGIN
	commit         *CommitReport   // of COMMIT
	ended          bool            // the bound transaction is over
}

func refuse(stage fault.Stage, code fault.Code, span fault.Span, message string) answer {
	return answer{diagnostics: fault.Diagnostics{complaintAt(stage, code, span, message)}}
}

func (a answer) disposition() Disposition {
	switch {
	case a.unknown:
		return Unknown
	case len(a.diagnostics) > 0:
		return Failed
	default:
		return Completed
	}
}

// count is a number of things in words: `1 statement`, `3 statements`.
func count(n uint32, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return strconv.FormatUint(uint64(n), 10) + " " + thing
}
