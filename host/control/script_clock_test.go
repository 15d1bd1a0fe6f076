// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"fmt"
	"sync"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/registry"
)

// candidates is the port to live voters: nil, the default, unless a script or test has set them.
func (s *script) candidates() func() []clock.Authority {
	if s.voters.Load() == nil {
		return nil
	}
	return func() []clock.Authority { return *s.voters.Load() }
}

// clock runs the directives for domain clocks.
func (s *script) clock(d *datadriven.TestData) (string, bool) {
	if d.Cmd == "settled" { // every running paced domain has an authority of this start of the node
		s.wait(func(st *registry.State) bool {
			for _, d := range st.Domains {
				if l := d.Clock(); l.Running && l.Paced && l.Fence.Authority != self(1, s.incarnation) {
					return false
				}
			}
			return true
		})
		return "ok", true
	}
	s.node.mu.Lock()
	defer s.node.mu.Unlock()
	switch d.Cmd {
	case "utc": // moves the sampled UTC
		step, err := time.ParseDuration(d.CmdArgs[0].Key)
		if err != nil {
			s.t.Fatal(err)
		}
		s.node.utc += int64(step)
		return "ok", true
	case "samples": // of UTC since the last time
		n := s.node.samples
		s.node.samples = 0
		return fmt.Sprint(n), true
	case "readable":
		at, err := time.Parse(time.RFC3339Nano, d.CmdArgs[0].Key)
		if err != nil {
			s.t.Fatal(err)
		}
		reading := vtime.LogicalFromNS(at.UnixNano())
		s.node.reading = &reading
		return "ok", true
	case "unreadable":
		s.node.reading = nil
		return "ok", true
	}
	return "", false
}

// wait returns when a committed state satisfies ok.
func (s *script) wait(ok func(*registry.State) bool) {
	s.t.Helper()
	reached := make(chan struct{})
	var once sync.Once
	defer s.log.Watch(func(st *registry.State) {
		if ok(st) {
			once.Do(func() { close(reached) })
		}
	})()
	select {
	case <-reached:
	case <-s.t.Context().Done():
		s.t.Fatal("the state never came")
	}
}

func rfc3339(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }

// pacing shows the clock of a paced domain.
func pacing(d *registry.Domain) string {
	if d.Pace != registry.Paced {
		return ""
	}
	text := fmt.Sprintf("\n  period %d skew %d authority %s", d.Pacing.Period, d.Pacing.Skew, d.Fence.Authority)
	if m := d.Mapping; !m.IsZero() {
		text += fmt.Sprintf("\n  wall %s origin %s rate %g", rfc3339(m.WallStartedAt.NS()), rfc3339(m.LogicalStart.NS()), m.Rate)
	}
	return text
}

func self(node ident.Node, incarnation ident.Incarnation) clock.Authority {
	return clock.Authority{Node: node, Incarnation: incarnation}
}
