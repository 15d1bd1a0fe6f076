// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// fakeClock is a session that follows a clock as a script says. It notes what it was asked.
type fakeClock struct {
	mu     sync.Mutex
	asked  []string
	attach func(ctx context.Context) (client.DomainClock, error)
	events chan any // a ClockEvent or an error
}

func (f *fakeClock) note(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, what)
}

func (f *fakeClock) AttachDomainClock(ctx context.Context, domain string) (client.DomainClock, error) {
	f.note("attach " + domain)
	if f.attach != nil {
		return f.attach(ctx)
	}
	return client.DomainClock{Domain: domain, Observed: pacedClock(1)}, nil
}

func (f *fakeClock) DetachDomainClock(ctx context.Context, domain string) error {
	f.note("detach " + domain)
	return ctx.Err()
}

func (f *fakeClock) NextClockEvent(ctx context.Context) (client.ClockEvent, error) {
	select {
	case one := <-f.events:
		if err, failed := one.(error); failed {
			return client.ClockEvent{}, err
		}
		return one.(client.ClockEvent), nil
	case <-ctx.Done():
		return client.ClockEvent{}, context.Cause(ctx)
	}
}

func pacedClock(generation ident.Generation) clock.Observed {
	return clock.Observed{Generation: generation, State: clock.Paced, Pace: clock.Pace{Period: uint64(24 * time.Hour), Skew: 0},
		Mapping: clock.Mapping{WallStartedAt: vtime.UTCFromNS(1_700_000_000_123_000_000), LogicalStart: vtime.LogicalFromNS(-1), Rate: 1728000}}
}

func tickEvent(generation ident.Generation, id uint64) client.ClockEvent {
	return client.ClockEvent{Kind: client.ClockTicked, Tick: client.ClockTick{Generation: generation,
		Tick: clock.Tick{ID: id, Boundary: vtime.LogicalFromNS(1_600_000_000_000_000_000)}, AuthorityUTC: vtime.UTCFromNS(1_700_000_000_123_456_000),
		NodeLogical: vtime.LogicalFromNS(1_700_000_000_123_456_789)}}
}

var (
	stateEvent       = client.ClockEvent{Kind: client.ClockObserved, Clock: clock.Observed{Generation: 2, State: clock.Stopped}}
	interruptedEvent = client.ClockEvent{Kind: client.ClockInterrupted}
	refusedEvent     = client.ClockEvent{Kind: client.ClockRefused, Refusal: "not now,\nreally", RetryIn: 2 * time.Second}
	endedEvent       = client.ClockEvent{Kind: client.ClockEnded, Reason: client.EndDomainRemoved}
)

// following runs domain-clock against a fake session in virtual time and gives the two outputs and the exit code.
func following(t *testing.T, format string, o clockOptions, f *fakeClock, during func(cancel context.CancelFunc)) (out, notes string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if f.events == nil {
		f.events = make(chan any, 20)
	}
	run := &clockFollower{session: f, domain: "history", options: o, lines: clockLinesTo(&stdout, format),
		note: func(format string, args ...any) { fmt.Fprintf(&stderr, format+"\n", args...) }}
	done := make(chan error, 1)
	go func() { done <- run.run(ctx) }()
	if during != nil {
		during(cancel)
	}
	err := <-done
	var e *exitError
	switch {
	case err == nil:
	case errors.As(err, &e):
		code = e.code
		stderr.WriteString(e.text)
	default:
		code = exitFailed
		stderr.WriteString(err.Error())
	}
	return stdout.String(), stderr.String(), code
}

// TestClockLines has every line form of both formats.
func TestClockLines(t *testing.T) {
	// req: X-295
	// req: X-291 half: this command prints bare lines, not among those of a REPL
	for format, want := range map[string]string{
		formatTable: `attached: generation 1, paced, period 24h, skew 0s, logical origin 1969-12-31T23:59:59.999999999Z, UTC anchor 2023-11-14T22:13:20.123Z, time rate 1.728e+06
tick: generation 1, id 7, boundary 2020-09-13T12:26:40Z, authority UTC 2023-11-14T22:13:20.123456Z, node logical 2023-11-14T22:13:20.123456789Z
state: generation 2, stopped
interrupted: the session is lost
refused: retry in 2s, not now, really
ended: domain removed
`,
		formatJSONL: `{"type":"attached","generation":1,"state":"paced","period_ns":86400000000000,"skew_ns":0,"logical_start_ns":-1,"wall_started_at_ns":1700000000123000000,"time_rate":1728000}
{"type":"tick","generation":1,"id":7,"boundary_ns":1600000000000000000,"authority_utc_ns":1700000000123456000,"node_logical_ns":1700000000123456789}
{"type":"state","generation":2,"state":"stopped"}
{"type":"interrupted"}
{"type":"refused","retry_in_ns":2000000000}
{"type":"ended","reason":"domain removed"}
`,
	} {
		f := &fakeClock{events: make(chan any, 10)}
		for _, e := range []client.ClockEvent{tickEvent(1, 7), stateEvent, interruptedEvent, refusedEvent, endedEvent} {
			f.events <- e
		}
		out, notes, code := following(t, format, clockOptions{follow: true}, f, nil)
		if diff := cmp.Diff(want, out); diff != "" || notes != "" || code != exitDone {
			t.Errorf("%s: exit %d, %s\n%s", format, code, notes, diff)
		}
	}
}

// lineForm is the grammar of the lines for people.
var lineForm = func() *regexp.Regexp {
	const instant = `\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3}|\.\d{6}|\.\d{9})?Z`
	const length = `\d+(h|m|s|ms|us|ns)`
	clockForm := `generation \d+, (stopped|uninstalled|unpaced|paced, period ` + length + `, skew ` + length + `, logical origin ` + instant +
		`, UTC anchor ` + instant + `, time rate [0-9.e+-]+)`
	return regexp.MustCompile(`^(attached: ` + clockForm + `|state: ` + clockForm + `|tick: generation \d+, id \d+, boundary ` + instant +
		`, authority UTC ` + instant + `, node logical ` + instant + `|interrupted: [^,]+|refused: retry in ` + length + `, .*|ended: domain removed)$`)
}()

// TestEveryClockHasALine: whatever the numbers, a line has its form.
func TestEveryClockHasALine(t *testing.T) {
	// req: X-295
	var out bytes.Buffer
	lines := clockLinesTo(&out, formatTable)
	instants := []int64{math.MinInt64, -1_000_000_000, -1, 0, 1, 999, 1_000, 1_000_000, 1_500_000_000, math.MaxInt64}
	for _, ns := range instants {
		for _, length := range []uint64{0, 1, 999, 1_000, 1_000_000, 90_000_000_000, 3_600_000_000_000, math.MaxUint64} {
			for _, rate := range []float64{math.SmallestNonzeroFloat64, 1, 1.5, math.MaxFloat64} {
				c := clock.Observed{Generation: 9, State: clock.Paced, Pace: clock.Pace{Period: max(1, length), Skew: length},
					Mapping: clock.Mapping{WallStartedAt: vtime.UTCFromNS(ns), LogicalStart: vtime.LogicalFromNS(ns), Rate: rate}}
				_ = lines.attached(c)
				_ = lines.event(client.ClockEvent{Kind: client.ClockObserved, Clock: c})
			}
		}
		_ = lines.event(client.ClockEvent{Kind: client.ClockTicked, Tick: client.ClockTick{Generation: 1, Tick: clock.Tick{ID: math.MaxUint64,
			Boundary: vtime.LogicalFromNS(ns)}, AuthorityUTC: vtime.UTCFromNS(ns), NodeLogical: vtime.LogicalFromNS(ns)}})
	}
	for _, state := range []clock.State{clock.Stopped, clock.Uninstalled, clock.Unpaced} {
		_ = lines.event(client.ClockEvent{Kind: client.ClockObserved, Clock: clock.Observed{State: state}})
	}
	for line := range strings.Lines(out.String()) {
		if line = strings.TrimSuffix(line, "\n"); !lineForm.MatchString(line) {
			t.Errorf("no line form: %s", line)
		}
	}
}

// TestEndsOfAFollowing has the exits.
func TestEndsOfAFollowing(t *testing.T) {
	// req: X-296
	attached := `{"type":"attached","generation":1,"state":"paced"`
	for _, c := range []struct {
		name   string
		o      clockOptions
		fake   *fakeClock
		during func(f *fakeClock, cancel context.CancelFunc)
		code   int
		asked  []string
		notes  string
		silent bool // nothing on standard output
	}{
		{name: "Ctrl-C", o: clockOptions{follow: true}, during: func(_ *fakeClock, cancel context.CancelFunc) { cancel() },
			asked: []string{"attach history", "detach history"}},
		{name: "the duration", o: clockOptions{follow: true, length: time.Hour}, asked: []string{"attach history", "detach history"}},
		{name: "shown once", o: clockOptions{}, asked: []string{"attach history", "detach history"}},
		{name: "the domain is removed", o: clockOptions{follow: true}, during: func(f *fakeClock, _ context.CancelFunc) { f.events <- endedEvent },
			asked: []string{"attach history"}},
		{name: "a refused attach", o: clockOptions{follow: true}, silent: true, code: exitFailed, asked: []string{"attach history"}, notes: "no such domain",
			fake: &fakeClock{attach: func(context.Context) (client.DomainClock, error) {
				return client.DomainClock{}, &client.Error{Kind: client.ErrDomainUnknown, Detail: "domain history"}
			}}},
		{name: "a node without clocks", o: clockOptions{follow: true}, silent: true, code: exitFailed, asked: []string{"attach history"}, notes: "cannot be followed",
			fake: &fakeClock{attach: func(context.Context) (client.DomainClock, error) {
				return client.DomainClock{}, &client.Error{Kind: client.ErrClocksUnsupported}
			}}},
		{name: "no node for the attach", o: clockOptions{follow: true}, silent: true, code: exitConnect, asked: []string{"attach history"}, notes: "cannot connect",
			fake: &fakeClock{attach: func(context.Context) (client.DomainClock, error) {
				return client.DomainClock{}, &client.Error{Kind: client.ErrConnect}
			}}},
		{name: "Ctrl-C while the node starts", o: clockOptions{follow: true}, silent: true, asked: []string{"attach history", "detach history"},
			fake: &fakeClock{attach: func(ctx context.Context) (client.DomainClock, error) {
				<-ctx.Done()
				return client.DomainClock{}, context.Cause(ctx)
			}}, during: func(_ *fakeClock, cancel context.CancelFunc) { cancel() }},
		{name: "the session cannot be replaced", o: clockOptions{follow: true}, code: exitConnect, asked: []string{"attach history"}, notes: "could not be resumed yet",
			during: func(f *fakeClock, _ context.CancelFunc) {
				f.events <- interruptedEvent
				for range 200 {
					f.events <- error(&client.Error{Kind: client.ErrConnect, Detail: "nobody there"})
				}
			}},
		{name: "the password was changed", o: clockOptions{follow: true}, code: exitAuthentication, asked: []string{"attach history"}, notes: "authentication",
			during: func(f *fakeClock, _ context.CancelFunc) {
				f.events <- error(&client.Error{Kind: client.ErrAuthentication})
			}},
		{name: "a lost session that comes back", o: clockOptions{follow: true}, asked: []string{"attach history"}, notes: "could not be resumed yet",
			during: func(f *fakeClock, _ context.CancelFunc) {
				for range 30 {
					f.events <- interruptedEvent
					for range 20 {
						f.events <- error(&client.Error{Kind: client.ErrConnect})
					}
					f.events <- stateEvent
				}
				f.events <- endedEvent
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := c.fake
				if f == nil {
					f = &fakeClock{}
				}
				f.events = make(chan any, 1000)
				out, notes, code := following(t, formatJSONL, c.o, f, func(cancel context.CancelFunc) {
					synctest.Wait()
					if c.during != nil {
						c.during(f, cancel)
					}
				})
				if code != c.code || !strings.Contains(notes, c.notes) || c.notes == "" && notes != "" {
					t.Errorf("exit %d, want %d: %s", code, c.code, notes)
				}
				if diff := cmp.Diff(c.asked, f.asked); diff != "" {
					t.Error(diff)
				}
				if c.silent != (out == "") || !c.silent && !strings.HasPrefix(out, attached) {
					t.Errorf("standard output: %s", out)
				}
			})
		})
	}
}

func TestAClosedStandardOutputEndsTheFollowing(t *testing.T) {
	f := &fakeClock{}
	run := &clockFollower{session: f, domain: "history", options: clockOptions{follow: true}, lines: clockLinesTo(brokenPipe{}, formatTable),
		note: func(string, ...any) {}}
	if err := run.run(t.Context()); err == nil || !strings.Contains(err.Error(), "broken pipe") {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff([]string{"attach history", "detach history"}, f.asked); diff != "" {
		t.Error(diff)
	}
}

func TestDomainClockUsage(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"domain-clock"}, "needs --domain"},
		{[]string{"--domain", "d", "domain-clock", "x"}, "the domain comes with --domain"},
		{[]string{"--domain", "d", "domain-clock", "--for", "0s"}, "above zero"},
		{[]string{"--domain", "d", "domain-clock", "--for", "soon"}, "invalid"},
		{[]string{"--domain", "d", "domain-clock", "--format", "xml"}, "--format"},
	} {
		var out, notes bytes.Buffer
		code := run(t.Context(), c.args, terminal{strings.NewReader(""), &out, &notes, func(string) string { return "" }})
		if code != exitUsage || !strings.Contains(notes.String(), c.want) || out.Len() > 0 {
			t.Errorf("%v: exit %d, %s%s", c.args, code, &notes, &out)
		}
	}
}
