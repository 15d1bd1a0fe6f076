// SPDX-License-Identifier: Apache-2.0

package clocks

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/lex"
	"github.com/nervix-go/nervix/host/wire"
)

// Verb is what a statement asks of the attachments.
type Verb uint8

// The verbs. None is every other text.
const (
	None Verb = iota
	Attach
	Detach
)

// Statement tells whether a text is `ATTACH DOMAIN CLOCK` or `DETACH DOMAIN CLOCK` and nothing else (nspl 21.5). Both change the session
// and not the cluster, so they do not reach the control plane; a text that has more than that does, and is refused there.
func Statement(text string) Verb {
	words := make([]string, 0, 4)
	for at, ended := 0, false; ; {
		t := lex.Next(text, at)
		at = t.Span.End()
		switch {
		case t.Kind == lex.EOF:
			return verbs[strings.Join(words, " ")]
		case t.Kind == lex.Sign && t.Text == ";" && len(words) > 0:
			ended = true
		case t.Kind == lex.Word && !ended && len(words) < cap(words):
			words = append(words, strings.ToUpper(t.Text))
		default:
			return None
		}
	}
}

var verbs = map[string]Verb{"ATTACH DOMAIN CLOCK": Attach, "DETACH DOMAIN CLOCK": Detach}

// Outcome is the reply to a statement. asJSON adds the attached clock as data.
func (r *Reply) Outcome(reference string, asJSON bool) wire.CommandOutcome {
	o := wire.CommandOutcome{Disposition: wire.DispositionCompleted, Reference: reference, Domain: string(r.Domain)}
	switch {
	case r.Attached:
		o.Text = fmt.Sprintf("the session follows the clock of domain %s: generation %d, %s", r.Domain, r.Observed.Generation, r.Observed.State)
		if asJSON {
			o.Data = dataOf(r.Observed)
		}
	case r.Detached:
		o.Text = fmt.Sprintf("the session follows the clock of domain %s no longer", r.Domain)
	default:
		o.Disposition = wire.DispositionFailed
		stage := fault.StageAdmit
		if r.Refused.Code == fault.SessionDomainUnknown {
			stage = fault.StageResolve
		}
		o.Diagnostics = fault.Diagnostics{{Stage: stage, Code: r.Refused.Code, Message: r.text(), Hint: fault.Lookup(r.Refused.Code).Hint}}
	}
	return o
}

// text is why an attach or detach was refused, for people: what and where.
func (r *Reply) text() string {
	name := string(r.Domain)
	switch r.Refused.Code {
	case fault.SessionDomainUnknown:
		return "there is no domain " + name
	case fault.SessionClockAttached:
		return "the session follows the clock of domain " + name + " already"
	case fault.SessionClockNotAttached:
		return "the session does not follow the clock of domain " + name
	case fault.SessionInTransaction:
		return "the clock of domain " + name + " can be neither attached nor detached while a transaction is open"
	case fault.SessionOver:
		return "the node stops"
	}
	return "the clock of domain " + name + " cannot be watched: " + r.Refused.Err.Error()
}

// data is the clock in the form of the CLI's jsonl objects.
type data struct {
	Generation      uint64   `json:"generation"`
	State           string   `json:"state"`
	PeriodNS        *uint64  `json:"period_ns,omitempty"`
	SkewNS          *uint64  `json:"skew_ns,omitempty"`
	LogicalStartNS  *int64   `json:"logical_start_ns,omitempty"`
	WallStartedAtNS *int64   `json:"wall_started_at_ns,omitempty"`
	TimeRate        *float64 `json:"time_rate,omitempty"`
}

func dataOf(o clock.Observed) string {
	c := observed(o)
	d := data{Generation: c.Generation, State: c.State.String()}
	if c.State == wire.ClockPaced {
		d.PeriodNS, d.SkewNS, d.LogicalStartNS, d.WallStartedAtNS, d.TimeRate = &c.PeriodNS, &c.SkewNS, &c.LogicalStartNS, &c.WallStartedAtNS, &c.TimeRate
	}
	text, err := json.Marshal(d)
	if err != nil {
		return "" // numbers and fixed words: they can always be written
	}
	return string(text)
}
