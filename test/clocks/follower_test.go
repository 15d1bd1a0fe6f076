// SPDX-License-Identifier: Apache-2.0

package clocks

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nervix-go/nervix/test/nodes"
)

// event is a line of domain-clock, of either format.
type event struct {
	kind       string
	generation uint64
	state      string
	// Of a paced clock.
	period, skew            uint64
	logicalStart, startedAt int64
	rate                    float64
	// Of a tick.
	id                                  uint64
	boundary, authorityUTC, nodeLogical int64
	reason                              string
}

// The lines of --format jsonl: these members, in this order, integers of nanoseconds.
var (
	jsonClock = regexp.MustCompile(`^\{"type":"(attached|state)","generation":(\d+),"state":"(unpaced|stopped|uninstalled)"\}$`)
	jsonPaced = regexp.MustCompile(`^\{"type":"(attached|state)","generation":(\d+),"state":"(paced)","period_ns":(\d+),"skew_ns":(\d+),"logical_start_ns":(-?\d+),"wall_started_at_ns":(-?\d+),"time_rate":([-+.0-9e]+)\}$`)
	jsonTick  = regexp.MustCompile(`^\{"type":"(tick)","generation":(\d+),"id":(\d+),"boundary_ns":(-?\d+),"authority_utc_ns":(-?\d+),"node_logical_ns":(-?\d+)\}$`)
	jsonOther = regexp.MustCompile(`^(?:\{"type":"(interrupted)"\}|\{"type":"(refused)","retry_in_ns":(\d+)\}|\{"type":"(ended)","reason":"([^"]+)"\})$`)
)

// The lines of --format table.
var (
	textClock = regexp.MustCompile(`^(attached|state): generation (\d+), (unpaced|stopped|uninstalled)$`)
	textPaced = regexp.MustCompile(`^(attached|state): generation (\d+), (paced), period (\d+[a-z]+), skew (\d+[a-z]+), logical origin (\S+), UTC anchor (\S+), time rate ([-+.0-9e]+)$`)
	textTick  = regexp.MustCompile(`^(tick): generation (\d+), id (\d+), boundary (\S+), authority UTC (\S+), node logical (\S+)$`)
	textOther = regexp.MustCompile(`^(interrupted): .+$|^(refused): retry in (\d+[a-z]+), .*$|^(ended): (.+)$`)
	textTime  = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(?:\d{3}|\d{6}|\d{9}))?Z$`)
)

// parse reads a line of domain-clock.
func parse(line string) (e event, err error) {
	note := func(failed error) {
		if err == nil && failed != nil {
			err = fmt.Errorf("%q: %w", line, failed)
		}
	}
	count := func(text string) uint64 {
		n, failed := strconv.ParseUint(text, 10, 64)
		note(failed)
		return n
	}
	whole := func(text string) int64 {
		n, failed := strconv.ParseInt(text, 10, 64)
		note(failed)
		return n
	}
	number := func(text string) float64 {
		n, failed := strconv.ParseFloat(text, 64)
		note(failed)
		return n
	}
	instant := func(text string) int64 {
		at, failed := time.Parse(time.RFC3339Nano, text)
		note(failed)
		if !textTime.MatchString(text) {
			note(fmt.Errorf("%s has not 0, 3, 6 or 9 digits of a second", text))
		}
		return at.UnixNano()
	}
	length := func(text string) uint64 {
		d, failed := time.ParseDuration(text)
		note(failed)
		return uint64(d)
	}
	other := func(m []string) event {
		return event{kind: m[1] + m[2] + m[4], reason: m[5]}
	}
	match := func(r *regexp.Regexp) []string { return r.FindStringSubmatch(line) }
	if m := match(jsonClock); m != nil {
		return event{kind: m[1], generation: count(m[2]), state: m[3]}, err
	} else if m := match(jsonPaced); m != nil {
		return event{kind: m[1], generation: count(m[2]), state: m[3], period: count(m[4]), skew: count(m[5]), logicalStart: whole(m[6]), startedAt: whole(m[7]), rate: number(m[8])}, err
	} else if m := match(jsonTick); m != nil {
		return event{kind: m[1], generation: count(m[2]), id: count(m[3]), boundary: whole(m[4]), authorityUTC: whole(m[5]), nodeLogical: whole(m[6])}, err
	} else if m := match(jsonOther); m != nil {
		return other(m), err
	} else if m := match(textClock); m != nil {
		return event{kind: m[1], generation: count(m[2]), state: m[3]}, err
	} else if m := match(textPaced); m != nil {
		return event{kind: m[1], generation: count(m[2]), state: m[3], period: length(m[4]), skew: length(m[5]), logicalStart: instant(m[6]), startedAt: instant(m[7]), rate: number(m[8])}, err
	} else if m := match(textTick); m != nil {
		return event{kind: m[1], generation: count(m[2]), id: count(m[3]), boundary: instant(m[4]), authorityUTC: instant(m[5]), nodeLogical: instant(m[6])}, err
	} else if m := match(textOther); m != nil {
		return other(m), err
	}
	return event{}, fmt.Errorf("no line of domain-clock: %q", line)
}

// follower is a running `nervix domain-clock`.
type follower struct {
	t      *testing.T
	cmd    *exec.Cmd
	out    nodes.Output
	stderr nodes.Output
	done   chan struct{}
}

// follow starts one, which is killed when the test ends.
func (w *world) follow(t *testing.T, domain string, arguments ...string) *follower {
	t.Helper()
	f := &follower{t: t, cmd: w.nervix(t, append([]string{"--domain", domain, "domain-clock"}, arguments...)...), done: make(chan struct{})}
	f.cmd.Stdout, f.cmd.Stderr = &f.out, &f.stderr
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = f.cmd.Wait()
		close(f.done)
	}()
	t.Cleanup(func() {
		_ = f.cmd.Process.Kill()
		<-f.done
	})
	return f
}

// jsonl is follow with objects.
func (w *world) jsonl(t *testing.T, domain string, arguments ...string) *follower {
	t.Helper()
	return w.follow(t, domain, append([]string{"--format", "jsonl"}, arguments...)...)
}

func (f *follower) signal(s syscall.Signal) {
	f.t.Helper()
	if err := f.cmd.Process.Signal(s); err != nil {
		f.t.Fatal(err)
	}
}

// events are the whole lines so far.
func (f *follower) events() []event {
	f.t.Helper()
	text := f.out.String()
	var all []event
	for line := range strings.Lines(text[:strings.LastIndexByte(text, '\n')+1]) {
		e, err := parse(strings.TrimSuffix(line, "\n"))
		if err != nil {
			f.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// after waits until there is an event that is looked for behind the first n, and gives its place.
func (f *follower) after(n int, what string, is func(event) bool) int {
	f.t.Helper()
	place := -1
	nodes.Eventually(f.t, what, func() bool {
		if all := f.events(); len(all) > n {
			place = slices.IndexFunc(all[n:], is)
		}
		if place < 0 {
			select {
			case <-f.done:
				f.t.Fatalf("the follower ended before %s, exit %d: %s%s", what, f.cmd.ProcessState.ExitCode(), f.stderr.String(), f.out.String())
			default:
			}
		}
		return place >= 0
	})
	return n + place
}

// sees waits for an event anywhere.
func (f *follower) sees(what string, is func(event) bool) event {
	f.t.Helper()
	place := f.after(0, what, is)
	return f.events()[place]
}

// ends waits for the end and gives the exit code.
func (f *follower) ends() int {
	f.t.Helper()
	nodes.Eventually(f.t, "the follower ends", func() bool {
		select {
		case <-f.done:
			return true
		default:
			return false
		}
	})
	return f.cmd.ProcessState.ExitCode()
}

func ticked(generation, atLeast uint64) func(event) bool {
	return func(e event) bool { return e.kind == "tick" && e.generation == generation && e.id >= atLeast }
}

func observed(generation uint64, state string) func(event) bool {
	return func(e event) bool {
		return (e.kind == "state" || e.kind == "attached") && e.generation == generation && e.state == state
	}
}

func kind(k string) func(event) bool { return func(e event) bool { return e.kind == k } }
