// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/host/clock"
)

// clockLines writes what happens to a followed clock, one line each. The error is that of standard output.
type clockLines interface {
	attached(c clock.Observed) error
	event(e client.ClockEvent) error
}

func clockLinesTo(w io.Writer, format string) clockLines {
	if format == formatJSONL {
		return clockObjects{w}
	}
	return clockTexts{w}
}

// clockTexts are the line forms for people.
type clockTexts struct{ out io.Writer }

func (t clockTexts) attached(c clock.Observed) error { return t.line("attached: %s", clockText(c)) }

func (t clockTexts) event(e client.ClockEvent) error {
	switch e.Kind {
	case client.ClockObserved:
		return t.line("state: %s", clockText(e.Clock))
	case client.ClockTicked:
		return t.line("tick: generation %d, id %d, boundary %s, authority UTC %s, node logical %s", e.Tick.Generation, e.Tick.ID,
			instantText(e.Tick.Boundary.NS()), instantText(e.Tick.AuthorityUTC.NS()), instantText(e.Tick.NodeLogical.NS()))
	case client.ClockInterrupted:
		return t.line("interrupted: the session is lost")
	case client.ClockRefused:
		return t.line("refused: retry in %s, %s", lengthText(uint64(e.RetryIn)), oneLine(e.Refusal))
	case client.ClockEnded:
		return t.line("ended: %s", e.Reason)
	}
	return nil
}

func (t clockTexts) line(format string, args ...any) error {
	_, err := fmt.Fprintf(t.out, format+"\n", args...)
	return err
}

func clockText(c clock.Observed) string {
	text := fmt.Sprintf("generation %d, %s", c.Generation, c.State)
	if c.State != clock.Paced {
		return text
	}
	return text + fmt.Sprintf(", period %s, skew %s, logical origin %s, UTC anchor %s, time rate %s", lengthText(c.Pace.Period), lengthText(c.Pace.Skew),
		instantText(c.Mapping.LogicalStart.NS()), instantText(c.Mapping.WallStartedAt.NS()), strconv.FormatFloat(c.Mapping.Rate, 'g', -1, 64))
}

// instantText is RFC 3339 in UTC with 0, 3, 6 or 9 digits of a second.
func instantText(ns int64) string {
	layout := "2006-01-02T15:04:05.000000000Z"
	switch {
	case ns%1e9 == 0:
		layout = "2006-01-02T15:04:05Z"
	case ns%1e6 == 0:
		layout = "2006-01-02T15:04:05.000Z"
	case ns%1e3 == 0:
		layout = "2006-01-02T15:04:05.000000Z"
	}
	return time.Unix(0, ns).UTC().Format(layout)
}

// lengthText is a length as NSPL writes it: a whole number of the largest unit that fits.
func lengthText(ns uint64) string {
	for _, unit := range []struct {
		ns   uint64
		name string
	}{{3600e9, "h"}, {60e9, "m"}, {1e9, "s"}, {1e6, "ms"}, {1e3, "us"}} {
		if ns > 0 && ns%unit.ns == 0 {
			return strconv.FormatUint(ns/unit.ns, 10) + unit.name
		}
	}
	if ns == 0 {
		return "0s"
	}
	return strconv.FormatUint(ns, 10) + "ns"
}

// oneLine keeps a text of the node from breaking the line.
func oneLine(text string) string {
	out := []rune(text)
	for i, r := range out {
		if r < ' ' || r == 0x7f {
			out[i] = ' '
		}
	}
	return string(out)
}

// clockObjects are the lines of --format jsonl.
type clockObjects struct{ out io.Writer }

// clockObject is an attached or state line. The last five are there when the clock is paced.
type clockObject struct {
	Type            string   `json:"type"`
	Generation      uint64   `json:"generation"`
	State           string   `json:"state"`
	PeriodNS        *uint64  `json:"period_ns,omitempty"`
	SkewNS          *uint64  `json:"skew_ns,omitempty"`
	LogicalStartNS  *int64   `json:"logical_start_ns,omitempty"`
	WallStartedAtNS *int64   `json:"wall_started_at_ns,omitempty"`
	TimeRate        *float64 `json:"time_rate,omitempty"`
}

type tickObject struct {
	Type           string `json:"type"`
	Generation     uint64 `json:"generation"`
	ID             uint64 `json:"id"`
	BoundaryNS     int64  `json:"boundary_ns"`
	AuthorityUTCNS int64  `json:"authority_utc_ns"`
	NodeLogicalNS  int64  `json:"node_logical_ns"`
}

func (o clockObjects) attached(c clock.Observed) error {
	return writeLine(o.out, clockObjectOf("attached", c))
}

func (o clockObjects) event(e client.ClockEvent) error {
	switch e.Kind {
	case client.ClockObserved:
		return writeLine(o.out, clockObjectOf("state", e.Clock))
	case client.ClockTicked:
		t := e.Tick
		return writeLine(o.out, tickObject{"tick", uint64(t.Generation), t.ID, t.Boundary.NS(), t.AuthorityUTC.NS(), t.NodeLogical.NS()})
	case client.ClockInterrupted:
		return writeLine(o.out, struct {
			Type string `json:"type"`
		}{"interrupted"})
	case client.ClockRefused:
		return writeLine(o.out, struct {
			Type      string `json:"type"`
			RetryInNS int64  `json:"retry_in_ns"`
		}{"refused", int64(e.RetryIn)})
	case client.ClockEnded:
		return writeLine(o.out, struct {
			Type   string `json:"type"`
			Reason string `json:"reason"`
		}{"ended", e.Reason})
	}
	return nil
}

func clockObjectOf(kind string, c clock.Observed) clockObject {
	o := clockObject{Type: kind, Generation: uint64(c.Generation), State: c.State.String()}
	if c.State == clock.Paced {
		logical, wall := c.Mapping.LogicalStart.NS(), c.Mapping.WallStartedAt.NS()
		o.PeriodNS, o.SkewNS, o.LogicalStartNS, o.WallStartedAtNS, o.TimeRate = &c.Pace.Period, &c.Pace.Skew, &logical, &wall, &c.Mapping.Rate
	}
	return o
}
