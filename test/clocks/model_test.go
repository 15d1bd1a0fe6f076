// SPDX-License-Identifier: Apache-2.0

package clocks

import (
	"fmt"
	"math/big"
	"testing"
)

// project is domain time at an observation of UTC, in whole nanoseconds, by the formula of the chapter over rational numbers.
func (e event) project(utc int64) *big.Int {
	elapsed := big.NewInt(max(0, utc-e.startedAt))
	rate := new(big.Rat).SetFloat64(e.rate)
	part := new(big.Int).Mul(elapsed, rate.Num())
	part.Div(part, rate.Denom())
	return part.Add(part, big.NewInt(e.logicalStart))
}

// due is the number of the latest boundary that domain time has reached.
func (e event) due(utc int64) uint64 {
	since := e.project(utc)
	since.Sub(since, big.NewInt(e.logicalStart))
	return since.Div(since, new(big.Int).SetUint64(e.period)).Uint64() + 1
}

// clock is what stays the same over a generation.
func (e event) clock() event {
	return event{generation: e.generation, state: e.state, period: e.period, skew: e.skew, logicalStart: e.logicalStart, startedAt: e.startedAt, rate: e.rate}
}

// judge reads what a follower printed as a client may: the attached line first; a tick only behind a paced state of its generation; numbers that
// grow; boundaries where the mapping puts them; the latest due tick at the authority's UTC; readings that never decrease; one interruption a
// session, followed by one state; the end last.
func judge(events []event) error {
	var now, tick event
	var interrupted bool
	for i, e := range events {
		wrong := func(text string) error {
			return fmt.Errorf("line %d, %s: %+v; the clock was %+v, the tick before %+v", i+1, text, e, now, tick)
		}
		switch e.kind {
		case "attached", "state":
			switch {
			case (e.kind == "attached") != (i == 0):
				return wrong("the attached line, and no other, is the first")
			case i > 0 && !interrupted && e.clock() == now:
				return wrong("a state that is the one before")
			case e.generation < now.generation:
				return wrong("an earlier generation")
			case e.generation == now.generation && e.state == "paced" && now.state == "paced" && e.clock() != now:
				return wrong("two mappings of one generation")
			case e.generation == now.generation && now.state == "stopped" && e.state != "stopped" && now.generation > 0:
				return wrong("a stopped generation that runs again")
			}
			if e.generation != now.generation {
				tick = event{}
			}
			now, interrupted = e.clock(), false
		case "tick":
			boundary := new(big.Int).Mul(new(big.Int).SetUint64(e.id-1), new(big.Int).SetUint64(now.period))
			boundary.Add(boundary, big.NewInt(now.logicalStart))
			switch {
			case interrupted || now.state != "paced" || e.generation != now.generation:
				return wrong("a tick without its paced state")
			case e.id < 1 || e.id <= tick.id:
				return wrong("a tick that is not newer")
			case boundary.Cmp(big.NewInt(e.boundary)) != 0:
				return wrong("a boundary that is not the one of its number, " + boundary.String())
			case e.id != now.due(e.authorityUTC):
				return wrong(fmt.Sprintf("a tick that is not the latest due, %d", now.due(e.authorityUTC)))
			case tick.id != 0 && (e.authorityUTC < tick.authorityUTC || e.nodeLogical < tick.nodeLogical):
				return wrong("time that goes back")
			case e.nodeLogical < now.logicalStart:
				return wrong("a reading before the origin")
			}
			tick = e
		case "interrupted":
			if interrupted || i == 0 {
				return wrong("an interruption of nothing")
			}
			interrupted, tick = true, event{}
		case "ended":
			if i != len(events)-1 || e.reason != "domain removed" {
				return wrong("an end that is not the last line")
			}
		default:
			return wrong("not expected here")
		}
	}
	return nil
}

// holds is judge over a follower.
func (f *follower) holds() []event {
	f.t.Helper()
	all := f.events()
	if err := judge(all); err != nil {
		f.t.Errorf("%v\nin %s", err, f.out.String())
	}
	return all
}

// TestTheModelIsStrict: each rule of the model is broken once, and seen.
func TestTheModelIsStrict(t *testing.T) {
	paced := event{kind: "attached", generation: 1, state: "paced", period: 10, logicalStart: 100, startedAt: 1000, rate: 2}
	state := func(g uint64, s string) event { return event{kind: "state", generation: g, state: s} }
	tick := func(g, id uint64, boundary, utc, reading int64) event {
		return event{kind: "tick", generation: g, id: id, boundary: boundary, authorityUTC: utc, nodeLogical: reading}
	}
	again := paced
	again.kind = "state"
	moved := again
	moved.logicalStart = 101
	ended := event{kind: "ended", reason: "domain removed"}
	interrupted := event{kind: "interrupted"}
	good := []event{paced, tick(1, 1, 100, 1000, 100), tick(1, 3, 120, 1014, 125), interrupted, again, tick(1, 3, 120, 1014, 120), state(1, "stopped"), state(2, "uninstalled"), ended}
	if err := judge(good); err != nil {
		t.Fatal(err)
	}
	for name, events := range map[string][]event{
		"state first":          {state(1, "stopped")},
		"attached twice":       {paced, paced},
		"the same state":       {paced, again},
		"an older generation":  {paced, state(0, "stopped")},
		"another mapping":      {paced, moved},
		"runs again":           {paced, state(1, "stopped"), again},
		"a tick of a stopped":  {paced, state(1, "stopped"), tick(1, 1, 100, 1000, 100)},
		"another generation":   {paced, tick(2, 1, 100, 1000, 100)},
		"a tick twice":         {paced, tick(1, 1, 100, 1000, 100), tick(1, 1, 100, 1001, 101)},
		"a wrong boundary":     {paced, tick(1, 2, 111, 1005, 110)},
		"too early":            {paced, tick(1, 2, 110, 1004, 110)},
		"not the latest":       {paced, tick(1, 1, 100, 1005, 110)},
		"a reading goes back":  {paced, tick(1, 1, 100, 1000, 125), tick(1, 2, 110, 1005, 124)},
		"before the origin":    {paced, tick(1, 1, 100, 1000, 99)},
		"interrupted twice":    {paced, interrupted, interrupted},
		"a tick while away":    {paced, interrupted, tick(1, 1, 100, 1000, 100)},
		"more behind the end":  {paced, ended, interrupted},
		"ended for no reason":  {paced, {kind: "ended", reason: "bored"}},
		"an unknown line":      {paced, {kind: "news"}},
		"a refusal, never due": {paced, {kind: "refused"}},
	} {
		if judge(events) == nil {
			t.Errorf("%s was not seen", name)
		}
	}
}
