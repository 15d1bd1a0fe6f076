// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Verdict is how a command ended. The numbers are stored.
type Verdict uint8

// The verdicts. Applied: it took effect now. Kept: it took effect or was refused before, and Outcome is the recorded one. Stale: it was
// planned against a revision that is no longer current; nothing happened, plan again. Refused: Outcome has the code.
const (
	Applied Verdict = 1
	Kept    Verdict = 2
	Stale   Verdict = 3
	Refused Verdict = 4
)

func (v Verdict) String() string {
	switch v {
	case Applied:
		return "applied"
	case Kept:
		return "kept"
	case Stale:
		return "stale"
	case Refused:
		return "refused"
	}
	return "verdict?"
}

// Result is the answer of Apply, the same on every replica.
type Result struct {
	Verdict  Verdict
	Revision ident.Revision // of the state after the command
	Pending  bool           // Outcome is not final yet
	Outcome  Outcome
}

func refused(code fault.Code, text string) Result {
	return Result{Verdict: Refused, Outcome: refusal(code, text)}
}

func applied() Result { return Result{Verdict: Applied} }

func unchanged() Result { return Result{Verdict: Kept} }
