// SPDX-License-Identifier: Apache-2.0

package clocks

import (
	"encoding/json"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/test/nodes"
)

// fixed is an address for sessions that a node can come back to: of a port below those that the system hands out, so that nobody gets it meanwhile.
func fixed(t *testing.T) string {
	t.Helper()
	for range 100 {
		address := "127.0.0.1:" + strconv.Itoa(10_000+rand.IntN(20_000))
		if c, err := net.ListenPacket("udp", address); err == nil {
			_ = c.Close()
			return address
		}
	}
	t.Fatal("no free port")
	return ""
}

// again starts the node of a world on its folders.
func (w *world) again(t *testing.T, address string) {
	t.Helper()
	w.node = nodes.Start(t, nodes.Options{Data: w.data, Root: w.root, Flags: []string{"--session-listen", address}})
}

// TestFollowersOutliveTheNode: the node is killed, comes back, is stopped, and comes back. Generation and mapping are those committed, the first
// tick is the latest due, and what happened while nobody listened is one state.
func TestFollowersOutliveTheNode(t *testing.T) {
	// req: C-003 half: on one node
	// req: C-009 half: ticks go on under the authority of the new process, and those of the old one end
	// req: C-011
	// req: C-043 half: a restarted authority
	// req: C-052 half: after a restart
	// req: C-054 half: the periods of an outage
	// req: C-090 half: attaching while the node starts
	// req: C-101 half: no line but the interruption
	// req: C-103
	// req: C-104
	// req: C-108
	// req: C-146
	// req: C-149 half: one node
	// req: C-214 half: the command, after a loss
	// req: X-187
	// req: X-189 half: not found
	// req: X-294
	t.Parallel()
	address := fixed(t)
	w := start(t, "--session-listen", address)
	s := w.session(t, "")
	s.Do(`CREATE PACED DOMAIN runs WITH PERIOD 10ms SKEW 1ms;
CREATE PACED DOMAIN turns WITH PERIOD 10ms SKEW 0s;
CREATE DOMAIN goes;
USE runs;
START AT '2012-01-01T00:00:00Z' TIME RATE 0.75;
USE turns;
START;
`)
	runs, turns, goes := []*follower{w.jsonl(t, "runs"), w.follow(t, "runs")}, w.jsonl(t, "turns"), w.jsonl(t, "goes")
	for _, f := range runs {
		f.sees("a tick", ticked(1, 2))
	}
	turns.sees("a tick", ticked(1, 1))
	goes.sees("a domain", observed(0, "stopped"))

	// These two do not listen while it happens.
	turns.signal(syscall.SIGSTOP)
	goes.signal(syscall.SIGSTOP)
	s.Use("turns")
	s.Do("STOP;\nSTART AT '2012-01-01T00:00:00Z' TIME RATE 2.0;\n")
	w.node.Kill() // with the reply to START just written
	w.again(t, address)
	s = w.session(t, "turns")
	if got := entry(t, s, "turns"); got.Status != "RUNNING" || got.StartVersion != 2 {
		t.Errorf("an acknowledged START: %+v", got)
	}
	s.Do("STOP;\nSTART;\nSTOP;\nSTART AT '1970-01-01T00:00:00Z' TIME RATE 0.5;\nDROP DOMAIN goes;\n")
	turns.signal(syscall.SIGCONT)
	goes.signal(syscall.SIGCONT)
	places := make([]int, len(runs))
	for i, f := range runs {
		lost := f.after(0, "the interruption", kind("interrupted"))
		places[i] = f.after(lost, "a tick of the new process", ticked(1, 3))
	}
	turns.after(turns.after(0, "the interruption", kind("interrupted")), "a tick of the newest generation", ticked(4, 1))
	if code := goes.ends(); code != 0 {
		t.Errorf("exit %d: %s", code, goes.stderr.String())
	}

	w.node.Stop()
	w.again(t, address)
	for i, f := range runs {
		lost := f.after(places[i], "the second interruption", kind("interrupted"))
		f.after(lost, "a tick of the third process", ticked(1, 4))
	}
	s = w.session(t, "runs")
	if got := entry(t, s, "runs"); got.Status != "RUNNING" || got.StartVersion != 1 {
		t.Errorf("%+v", got)
	}
	s.Do("STOP;\nDROP DOMAIN runs;\n")
	for _, f := range runs {
		if code := f.ends(); code != 0 {
			t.Errorf("exit %d: %s", code, f.stderr.String())
		}
		seen := f.holds() // one mapping in one generation, over all three processes
		if first := seen[0].clock(); first.rate != 0.75 || first.logicalStart != 1_325_376_000_000_000_000 {
			t.Errorf("%+v", first)
		}
		if n := count(seen, kind("interrupted")); n != 2 {
			t.Errorf("%d interruptions", n)
		}
		if n := count(seen, kind("state")); n != 2 && n != 3 { // one for each restoration, and the stop unless the removal overtook it
			t.Errorf("%d states", n)
		}
	}
	// Three more generations came and went; the follower heard of its first, of the one that was committed while it slept or not, and of the last.
	slept := turns.holds()
	lost := 0
	for i, e := range slept {
		if e.kind == "interrupted" {
			lost = i
			break
		}
	}
	if e := slept[lost+1]; e.kind != "state" || e.generation != 4 || e.state != "paced" || e.rate != 0.5 || e.logicalStart != 0 {
		t.Errorf("behind the interruption: %+v", e)
	}
	if last := goes.holds(); count(last, kind("ended")) != 1 || count(last, kind("interrupted")) != 1 {
		t.Errorf("%+v", last)
	}
}

func count(all []event, is func(event) bool) (n int) {
	for _, e := range all {
		if is(e) {
			n++
		}
	}
	return n
}

// TestFollowersThroughAStorm: generations come and go while the node is killed under them, and whatever a follower is told is true: a generation
// that was acknowledged is not forgotten, and none has two mappings.
func TestFollowersThroughAStorm(t *testing.T) {
	// req: C-023 half: START is all or nothing over a kill
	// req: C-027 half: a transaction's START over a kill
	// req: C-102 half: schedules of a storm
	// req: C-206 half: states of one generation agree
	t.Parallel()
	address := fixed(t)
	w := start(t, "--session-listen", address)
	w.session(t, "").Do("CREATE PACED DOMAIN storm WITH PERIOD 3ms SKEW 0s")
	all := []*follower{w.jsonl(t, "storm"), w.jsonl(t, "storm"), w.follow(t, "storm")}
	for _, f := range all {
		f.sees("the domain", observed(0, "stopped"))
	}
	acknowledged := uint64(0)
	for range soak(3, 100) {
		s := w.session(t, "storm")
		if got := entry(t, s, "storm"); got.StartVersion < acknowledged {
			t.Fatalf("%d starts were acknowledged: %+v", acknowledged, got)
		} else if got.Status == "RUNNING" {
			s.Do("STOP")
		}
		var over atomic.Bool
		reached := make(chan uint64, 1)
		go func() { reached <- starts(s, &over) }()
		time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond) // wherever it is by then
		w.node.Kill()
		over.Store(true)
		w.again(t, address)
		acknowledged = max(acknowledged, <-reached)
	}
	s := w.session(t, "storm")
	if entry(t, s, "storm").Status == "RUNNING" {
		s.Do("STOP")
	}
	s.Do("START")
	last := entry(t, s, "storm").StartVersion
	for _, f := range all {
		f.sees("the last generation", ticked(last, 1))
	}
	s.Do("STOP;\nDROP DOMAIN storm;\n")
	mappings := map[uint64]event{}
	for _, f := range all {
		if code := f.ends(); code != 0 {
			t.Errorf("exit %d: %s", code, f.stderr.String())
		}
		for _, e := range f.holds() {
			if e.state != "paced" {
				continue
			}
			if told, ok := mappings[e.generation]; ok && told != e.clock() {
				t.Errorf("generation %d has two mappings: %+v, %+v", e.generation, told, e.clock())
			}
			mappings[e.generation] = e.clock()
		}
	}
}

// starts starts and stops a domain until it is over, and gives the newest generation that was acknowledged.
func starts(s *session, over *atomic.Bool) (acknowledged uint64) {
	for {
		for _, text := range []string{"START AT '2012-01-01T00:00:00Z' TIME RATE 3.7", "STOP", "BEGIN", "START", "STOP", "START AT '1969-07-20T20:17:40Z' TIME RATE 0.5", "COMMIT", "STOP"} {
			out, err := s.Try(text)
			if err != nil || out.Disposition != client.Completed || over.Load() {
				return acknowledged
			}
			if text == "STOP" || text == "COMMIT" {
				acknowledged = max(acknowledged, version(s))
			}
		}
	}
}

// version is the generation of the storm; 0 when it cannot be had.
func version(s *session) uint64 {
	out, err := s.Try("LIST DOMAINS")
	var all []domainEntry
	if err != nil || json.Unmarshal([]byte(out.Data), &all) != nil || len(all) != 1 {
		return 0
	}
	return all[0].StartVersion
}

func soak(normal, long int) int {
	if os.Getenv("NERVIX_SOAK") != "" {
		return long
	}
	return normal
}
