// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/wire"
	"pgregory.net/rapid"
)

func drawDomains(t *rapid.T) wire.DomainList {
	var list wire.DomainList
	for range rapid.IntRange(1, 4).Draw(t, "domains") {
		d := wire.DomainEntry{Name: name(t, "d"), Status: "running", Pace: wire.DomainPace(rapid.IntRange(0, 2).Draw(t, "pace")),
			StartVersion: rapid.Uint64().Draw(t, "generation")}
		if d.Pace == wire.PacePaced {
			d.PeriodNS, d.SkewNS = rapid.Uint64Min(1).Draw(t, "period"), rapid.Uint64().Draw(t, "skew")
		}
		list.Domains = append(list.Domains, d)
	}
	return list
}

// drawClock covers every complete value: any period, skew and positive finite rate, any instants.
func drawClock(t *rapid.T) wire.ObservedClock {
	c := wire.ObservedClock{State: wire.ClockState(rapid.IntRange(1, 4).Draw(t, "state")), Generation: rapid.Uint64().Draw(t, "generation")}
	if c.State != wire.ClockPaced {
		return c
	}
	c.PeriodNS, c.SkewNS = rapid.Uint64Min(1).Draw(t, "period"), rapid.Uint64().Draw(t, "skew")
	c.LogicalStartNS, c.WallStartedAtNS = rapid.Int64().Draw(t, "logical"), rapid.Int64().Draw(t, "wall")
	c.TimeRate = rapid.OneOf(rapid.Float64Range(math.SmallestNonzeroFloat64, math.MaxFloat64),
		rapid.SampledFrom([]float64{math.SmallestNonzeroFloat64, 1, math.MaxFloat64})).Draw(t, "rate")
	return c
}

func drawClockFrame(t *rapid.T, id uint64) wire.ServerFrame {
	domain, text := name(t, "domain"), rapid.StringN(0, 12, 100)
	switch rapid.IntRange(0, 4).Draw(t, "clock frame") {
	case 0:
		o := wire.DomainClockAttachOutcome{Disposition: wire.AttachDisposition(rapid.IntRange(1, 4).Draw(t, "attach")), Domain: domain,
			Code: "a.b", Text: text.Draw(t, "text"), Hint: text.Draw(t, "hint")}
		if o.Disposition == wire.ClockAttached {
			o.Clock = drawClock(t)
		}
		return wire.ServerFrame{RequestID: id, Body: o}
	case 1:
		return wire.ServerFrame{RequestID: id, Body: wire.DomainClockDetachOutcome{Domain: domain,
			Disposition: wire.DetachDisposition(rapid.IntRange(1, 3).Draw(t, "detach")), Text: text.Draw(t, "text")}}
	case 2:
		return wire.ServerFrame{Body: wire.DomainClockObserved{Domain: domain, Clock: drawClock(t)}}
	case 3:
		return wire.ServerFrame{Body: wire.DomainClockTicked{Domain: domain, Generation: rapid.Uint64Min(1).Draw(t, "g"),
			ID: rapid.Uint64Min(1).Draw(t, "tick"), BoundaryNS: rapid.Int64().Draw(t, "boundary"),
			AuthorityUTCNS: rapid.Int64().Draw(t, "utc"), NodeLogicalNS: rapid.Int64().Draw(t, "node")}}
	default:
		return wire.ServerFrame{Body: wire.DomainClockAttachmentEnded{Domain: domain, Reason: wire.EndDomainRemoved}}
	}
}

// TestClocksThatDoNotExistAreNotSent: the rules of an observed clock that the schema cannot state hold in both directions; the fuzz
// targets show that a decoder accepts nothing that the encoder refuses.
func TestClocksThatDoNotExistAreNotSent(t *testing.T) {
	// req: X-030
	// req: X-177
	paced := pacedClock
	for what, c := range map[string]wire.ObservedClock{
		"no state":                  {Generation: 1},
		"unknown state":             {State: 5},
		"stopped with a period":     {State: wire.ClockStopped, PeriodNS: 1},
		"unpaced with a rate":       {State: wire.ClockUnpaced, TimeRate: 1},
		"uninstalled with a origin": {State: wire.ClockUninstalled, LogicalStartNS: 1},
		"paced without a period":    func() wire.ObservedClock { c := paced; c.PeriodNS = 0; return c }(),
		"paced, rate zero":          func() wire.ObservedClock { c := paced; c.TimeRate = 0; return c }(),
		"paced, rate negative":      func() wire.ObservedClock { c := paced; c.TimeRate = -1; return c }(),
		"paced, rate infinite":      func() wire.ObservedClock { c := paced; c.TimeRate = math.Inf(1); return c }(),
		"paced, rate not a number":  func() wire.ObservedClock { c := paced; c.TimeRate = math.NaN(); return c }(),
	} {
		for _, body := range []wire.ServerFrame{
			{Body: wire.DomainClockObserved{Domain: "d", Clock: c}},
			{RequestID: 1, Body: wire.DomainClockAttachOutcome{Disposition: wire.ClockAttached, Domain: "d", Clock: c}},
		} {
			if _, err := wire.EncodeServer(body, wire.DefaultFrameLimit); fault.CodeOf(err) != fault.WireUnencodable {
				t.Errorf("%s in %T: %v", what, body.Body, err)
			}
		}
	}
	refused := wire.DomainClockAttachOutcome{Disposition: wire.ClockDomainNotFound, Domain: "d", Clock: paced}
	if _, err := wire.EncodeServer(wire.ServerFrame{RequestID: 1, Body: refused}, wire.DefaultFrameLimit); fault.CodeOf(err) != fault.WireUnencodable {
		t.Errorf("a refusal with a clock: %v", err)
	}
}

// TestClockRulesOfTheDecoder builds frames that the schema accepts and the rules of a clock do not.
func TestClockRulesOfTheDecoder(t *testing.T) {
	// req: X-028
	// req: X-029
	full := []member{{0, byte(4)}, {1, uint64(1)}, {2, uint64(1)}, {3, uint64(0)}, {4, uint64(0)}, {5, uint64(0)}, {6, math.Float64bits(1)}}
	change := func(slot int, value any) []member {
		out := append([]member(nil), full...)
		out[slot].value = value
		return out
	}
	without := func(slot int) []member { return append(append([]member(nil), full[:slot]...), full[slot+1:]...) }
	if err := verifyFrame(false, observedFrame(full), 4096); err != nil {
		t.Fatal("a whole clock:", err)
	}
	if err := verifyFrame(false, observedFrame([]member{{0, byte(3)}}), 4096); err != nil {
		t.Fatal("an unpaced clock of no generation:", err)
	}
	for what, members := range map[string][]member{
		"no period": without(2), "no skew": without(3), "no origin": without(4), "no anchor": without(5), "no rate": without(6),
		"period zero": change(2, uint64(0)), "rate zero": change(6, uint64(0)), "rate -0": change(6, uint64(1<<63)),
		"rate infinite": change(6, math.Float64bits(math.Inf(1))), "rate not a number": change(6, math.Float64bits(math.NaN())),
		"unpaced with a skew of zero":  {{0, byte(3)}, {3, uint64(0)}},
		"stopped with a whole mapping": change(0, byte(1)),
	} {
		if err := verifyFrame(false, observedFrame(members), 4096); fault.CodeOf(err) != fault.WireInvalid {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// observedFrame is a DomainClockObserved with a clock made of raw slots.
func observedFrame(clock []member) []byte {
	return rawUnsolicited(typeObserved, clock)
}

// TestOldPeersAreNotTold: a peer of protocol 1 refuses members it does not know, so it gets none.
func TestOldPeersAreNotTold(t *testing.T) {
	// req: X-036 half: the server's half; the client's is in client
	full := wire.DomainList{Domains: []wire.DomainEntry{{Name: "d", Status: "running", Pace: wire.PacePaced, PeriodNS: 1, SkewNS: 2, StartVersion: 3}}}
	if diff := cmp.Diff(wire.ServerBody(full), wire.ForProtocol(full, 2)); diff != "" {
		t.Error("protocol 2 loses something\n", diff)
	}
	old := wire.DomainList{Domains: []wire.DomainEntry{{Name: "d", Status: "running"}}}
	if diff := cmp.Diff(wire.ServerBody(old), wire.ForProtocol(full, 1)); diff != "" {
		t.Error(diff)
	}
	if got := wire.ForProtocol(wire.DomainClockTicked{}, 1); got != nil {
		t.Errorf("a tick for protocol 1: %v", got)
	}
	for _, c := range []struct {
		min, max, want uint32
		ok             bool
	}{{1, 1, 1, true}, {1, 2, 2, true}, {2, 9, 2, true}, {3, 9, 0, false}, {2, 1, 0, false}, {1, 9, 2, true}} {
		got, ok := wire.NegotiateSession(c.min, c.max)
		if got != c.want || ok != c.ok {
			t.Errorf("a peer of %d to %d: %d %v", c.min, c.max, got, ok)
		}
	}
}
