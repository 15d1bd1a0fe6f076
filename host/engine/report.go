// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/node/ingestor"
)

// Report is what the running executions did so far, by name.
type Report struct {
	Ingestors []IngestorReport
	Emitters  []EmitterReport
}

// IngestorReport is one ingestor. Read counts payloads, redeliveries left out.
type IngestorReport struct {
	Domain, Name   ident.Name
	Status         string
	Read, Filtered uint64
	// Skipped counts payloads the source itself left out, for FILE empty lines.
	Skipped  uint64
	Rejected map[string]uint64
	// Blocked says which delivery blocks the source and why; empty when none does.
	Blocked string
}

// EmitterReport is one emitter. Emitted counts payloads the sink confirmed.
type EmitterReport struct {
	Domain, Name ident.Name
	Emitted      uint64
	Rejected     map[string]uint64
}

// Refresh takes the counters of a later report and keeps the status of this one: a drain stops every source.
func (r Report) Refresh(later Report) Report {
	for i := range later.Ingestors {
		if i < len(r.Ingestors) && r.Ingestors[i].Name == later.Ingestors[i].Name {
			later.Ingestors[i].Status, later.Ingestors[i].Blocked = r.Ingestors[i].Status, r.Ingestors[i].Blocked
		}
	}
	return later
}

// Report reads every node that runs.
func (e *Engine) Report() Report {
	var r Report
	for _, x := range e.all() {
		for n, i := range x.ingestors {
			o, plan := i.Observe(), x.graph.Ingestors[n]
			r.Ingestors = append(r.Ingestors, IngestorReport{
				Domain: x.domain, Name: plan.Ref.Name, Status: string(o.Status), Read: o.Read - o.Redelivered, Filtered: o.Filtered, Skipped: o.Skipped, Rejected: o.Rejected,
				Blocked: e.blockedText(o, plan.Source.Kind),
			})
		}
		for n, m := range x.emitters {
			o := m.Observe()
			r.Emitters = append(r.Emitters, EmitterReport{Domain: x.domain, Name: x.graph.Emitters[n].Ref.Name, Emitted: o.Emitted, Rejected: o.Rejected})
		}
	}
	slices.SortFunc(r.Ingestors, func(a, b IngestorReport) int {
		return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(r.Emitters, func(a, b EmitterReport) int {
		return cmp.Or(cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.Name, b.Name))
	})
	return r
}

func (e *Engine) blockedText(o ingestor.Observation, kind string) string {
	if o.BlockedWhy == "" {
		return ""
	}
	fields := e.positionFields(kind)
	var place []string
	for i, n := range positionNumbers(o.BlockedAt, fields) {
		place = append(place, fmt.Sprintf("%s=%d", fields[i], n))
	}
	return fmt.Sprintf("%s attempts=%d: %s", strings.Join(place, " "), o.BlockedAttempts, o.BlockedWhy)
}

// Progress says how far the finite sources of all executions are.
type Progress struct {
	// Finite counts the ingestors whose sources end by themselves; Finished those of them that are read to their end with nothing unresolved,
	// Blocked those that are blocked. Ended counts those that are read to their end, whatever is unresolved.
	Finite, Finished, Blocked, Ended int
	// Busy says that admitted rows are on their way, in executions whose sources all end by themselves: of others more and more are.
	Busy bool
	// Moved grows with everything that is read for the first time or emitted.
	Moved uint64
	// Failing is the error of a sink that reports one; empty when none does.
	Failing string
}

// Progress reads every node that runs. It must not be called on a lane.
func (e *Engine) Progress() Progress {
	var p Progress
	for _, x := range e.all() {
		endless := false
		for n, i := range x.ingestors {
			if x.graph.Ingestors[n].Source.Endless {
				endless = true
				continue
			}
			o := i.Observe()
			p.Finite++
			p.Moved += o.Read - o.Redelivered
			switch {
			case o.Status == ingestor.Finished:
				p.Ended++
				if o.Unresolved == 0 {
					p.Finished++
				}
			case o.Status == ingestor.Blocked:
				p.Blocked++
			}
		}
		for n, m := range x.emitters {
			o := m.Observe()
			p.Moved += o.Emitted
			if o.Status != "OK" {
				p.Failing = x.graph.Emitters[n].Ref.String() + ": " + o.Detail
			}
		}
		p.Busy = p.Busy || !endless && !x.quiet()
	}
	return p
}

// Flush publishes what every route and emitter holds, and once nothing moves asks guests for what they hold.
func (e *Engine) Flush() {
	for _, x := range e.all() {
		x.flush()
		if x.quiet() {
			x.askGuests()
		}
	}
}
