// SPDX-License-Identifier: Apache-2.0

package client

import (
	"bufio"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"pgregory.net/rapid"
)

// vector is a line of the conformance set that server and clients share; numbers are decimal texts.
type vector struct {
	Op       string
	Wall     string `json:"wall_started_at_ns"`
	Logical  string `json:"logical_start_ns"`
	RateBits string `json:"time_rate_bits"`
	UTC      string `json:"utc_ns"`
	Now      string `json:"now_ns"`
	Target   string `json:"target_ns"`
	Result   string `json:"logical_ns"`
	Wait     string `json:"wait_ns"`
	Period   string `json:"period_ns"`
	Skew     string `json:"skew_ns"`
	Event    string `json:"event_ns"`
	Admitted bool
	Error    string
}

func (v vector) clock(t *testing.T) DomainClock {
	t.Helper()
	bits, err := strconv.ParseUint(v.RateBits, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	c := DomainClock{Domain: "d", Observed: clock.Observed{Generation: 1, State: clock.Paced, Pace: clock.Pace{Period: unsigned(t, v.Period), Skew: unsigned(t, v.Skew)},
		Mapping: clock.Mapping{WallStartedAt: vtime.UTCFromNS(signed(t, v.Wall)), LogicalStart: vtime.LogicalFromNS(signed(t, v.Logical)),
			Rate: math.Float64frombits(bits)}}}
	return c
}

func signed(t *testing.T, text string) int64 {
	t.Helper()
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func unsigned(t *testing.T, text string) uint64 {
	t.Helper()
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestSharedVectors: the client answers the conformance set bit for bit as the server does. A wait begins at a logical reading, so its clock is
// anchored there; a window is one of a reading, which is the client's own projection in the property below.
func TestSharedVectors(t *testing.T) {
	// req: C-111
	// req: X-191 half: server and Go; there is no C library yet
	file, err := os.Open("../host/clock/testdata/vectors.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	asked := map[string]int{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		c := v.clock(t)
		switch v.Op {
		case "at":
			got, err := c.At(vtime.UTCFromNS(signed(t, v.UTC)))
			if string(fault.CodeOf(err)) != v.Error || err == nil && got.NS() != signed(t, v.Result) {
				t.Errorf("%s: %v, %v", lines.Text(), got, err)
			}
		case "wait":
			c.Mapping.LogicalStart = vtime.LogicalFromNS(signed(t, v.Now))
			got, err := c.Wait(c.Mapping.WallStartedAt, vtime.LogicalFromNS(signed(t, v.Target)))
			if string(fault.CodeOf(err)) != v.Error || err == nil && int64(got) != signed(t, v.Wait) {
				t.Errorf("%s: %v, %v", lines.Text(), got, err)
			}
		default:
			continue
		}
		asked[v.Op]++
	}
	if lines.Err() != nil || asked["at"] < 100 || asked["wait"] < 100 {
		t.Fatalf("vectors: %v, %v", asked, lines.Err())
	}
}

// TestAdmissionIsTheServersTest: for any clock, instant and timestamp.
func TestAdmissionIsTheServersTest(t *testing.T) {
	// req: C-111
	rapid.Check(t, func(t *rapid.T) {
		m := clock.Mapping{WallStartedAt: vtime.UTCFromNS(rapid.Int64().Draw(t, "anchor")), LogicalStart: vtime.LogicalFromNS(rapid.Int64().Draw(t, "origin")),
			Rate: rapid.Float64Range(1e-6, 1e6).Draw(t, "rate")}
		p := clock.Pace{Period: rapid.Uint64Range(1, 1<<40).Draw(t, "period"), Skew: rapid.Uint64Range(0, 1<<41).Draw(t, "skew")}
		c := DomainClock{Domain: "d", Observed: clock.Observed{Generation: 1, State: clock.Paced, Pace: p, Mapping: m}}
		utc := vtime.UTCFromNS(rapid.Int64().Draw(t, "utc"))
		now, wantErr := m.At(utc)
		event := now.NS() + rapid.Int64Range(-1<<50, 1<<42).Draw(t, "event")
		got, err := c.Admits(utc, vtime.LogicalFromNS(event))
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%v, want %v", err, wantErr)
		}
		if err != nil {
			return
		}
		w, err := clock.WindowAt(m, p, now)
		if err != nil {
			t.Fatal(err)
		}
		if got != w.Admits(event) {
			t.Fatalf("admits %v", got)
		}
	})
}

// TestUnreadableClocks: what cannot be answered is a typed error, and nothing is made up.
func TestUnreadableClocks(t *testing.T) {
	// req: C-111
	// req: X-191 half: Go
	utc := vtime.UTCFromNS(1_700_000_000_000_000_000)
	for state, want := range map[clock.State]error{clock.Stopped: clock.ErrStopped, clock.Uninstalled: clock.ErrUninstalled} {
		c := DomainClock{Domain: "d", Observed: clock.Observed{Generation: 1, State: state}, Tick: &ClockTick{}}
		_, at := c.At(utc)
		_, wait := c.Wait(utc, vtime.Logical{})
		_, window := c.Window(utc)
		_, admits := c.Admits(utc, vtime.Logical{})
		_, _, reading := c.FromReading(0)
		for what, err := range map[string]error{"At": at, "Wait": wait, "Window": window, "Admits": admits, "FromReading": reading} {
			if !errors.Is(err, want) {
				t.Errorf("%s of a clock that is %v: %v", what, state, err)
			}
		}
	}
	unpaced := DomainClock{Domain: "d", Observed: clock.Observed{Generation: 1, State: clock.Unpaced}}
	if now, err := unpaced.At(utc); err != nil || now.NS() != utc.NS() {
		t.Errorf("unpaced: %v, %v", now, err)
	}
	if wait, err := unpaced.Wait(utc, vtime.LogicalFromNS(utc.NS()+5)); err != nil || wait != 5 {
		t.Errorf("unpaced wait: %v, %v", wait, err)
	}
	if ok, err := unpaced.Admits(utc, vtime.LogicalFromNS(math.MinInt64)); err != nil || !ok {
		t.Errorf("unpaced: %v, %v", ok, err)
	}
	far := DomainClock{Domain: "d", Observed: clock.Observed{Generation: 1, State: clock.Paced, Pace: clock.Pace{Period: 1},
		Mapping: clock.Mapping{LogicalStart: vtime.LogicalFromNS(math.MaxInt64 - 1), Rate: 1e6}}}
	if _, err := far.At(utc); !errors.Is(err, clock.ErrRange) {
		t.Errorf("overflow: %v", err)
	}
	slow := far
	slow.Mapping = clock.Mapping{Rate: math.SmallestNonzeroFloat64}
	if _, err := slow.Wait(vtime.UTC{}, vtime.LogicalFromNS(1)); !errors.Is(err, clock.ErrUnschedulable) {
		t.Errorf("a wait beyond a duration: %v", err)
	}
	if wait, err := far.Wait(vtime.UTC{}, vtime.LogicalFromNS(math.MaxInt64)); err != nil || wait != 1 {
		t.Errorf("a positive wait is at least 1 ns: %v, %v", wait, err)
	}
	if wait, err := far.Wait(vtime.UTC{}, vtime.LogicalFromNS(5)); err != nil || wait != 0 {
		t.Errorf("due: %v, %v", wait, err)
	}
}

// TestAShiftedHostIsOffByItsOffset: projections by the offset times the rate, waits by the offset; from the node's reading by neither.
func TestAShiftedHostIsOffByItsOffset(t *testing.T) {
	// req: C-110
	// req: X-194 half: the offset is not estimated
	const rate, offset = 60, 5 * time.Second
	true0 := vtime.UTCFromNS(1_700_000_000_000_000_000)
	m := clock.Mapping{WallStartedAt: true0, LogicalStart: vtime.LogicalFromNS(0), Rate: rate}
	at := func(since time.Duration) vtime.UTC { return vtime.UTCFromNS(true0.NS() + int64(since)) }
	node, err := m.At(at(10 * time.Second))
	if err != nil {
		t.Fatal(err)
	}
	c := DomainClock{Domain: "d", Observed: clock.Observed{Generation: 1, State: clock.Paced, Pace: clock.Pace{Period: 1}, Mapping: m},
		Tick: &ClockTick{NodeLogical: node}}
	good, err1 := c.At(at(12 * time.Second))
	shifted, err2 := c.At(at(12*time.Second + offset))
	if err1 != nil || err2 != nil || shifted.NS()-good.NS() != int64(rate*offset) {
		t.Errorf("the projection is off by %d, %v, %v", shifted.NS()-good.NS(), err1, err2)
	}
	target := vtime.LogicalFromNS(int64(rate * time.Minute))
	wait, err1 := c.Wait(at(12*time.Second), target)
	early, err2 := c.Wait(at(12*time.Second+offset), target)
	if err1 != nil || err2 != nil || wait-early != offset {
		t.Errorf("the wait is off by %v, %v, %v", wait-early, err1, err2)
	}
	if now, known, err := c.FromReading(2 * time.Second); err != nil || !known || now != good {
		t.Errorf("from the reading: %v, want %v; %v", now, good, err)
	}
	c.Tick = nil
	if _, known, err := c.FromReading(0); known || err != nil {
		t.Errorf("without a tick: %v, %v", known, err)
	}
}
