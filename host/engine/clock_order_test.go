// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/host/node/nodetest"
	"github.com/nervix-go/nervix/host/registry"
)

// order notes what a node does in which order: clocks that are installed, sources and sinks that are opened.
type order struct {
	n  *node
	mu sync.Mutex
	at []string
}

func (o *order) note(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.at = append(o.at, text)
}

func (o *order) take() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	taken := o.at
	o.at = nil
	return taken
}

// Installed implements timekeeper.Observer. At this moment nothing of a generation may exist whose clock this is.
func (o *order) Installed(l clock.Lifecycle, _ ident.Revision) {
	if !l.Running {
		return
	}
	made := "nothing of it is there"
	if x := o.n.e.execution(l.Domain); x != nil {
		made = fmt.Sprintf("generation %d is wired", x.generation)
	}
	o.note(fmt.Sprintf("clock %d: %s", l.Generation, made))
}

// Removed implements timekeeper.Observer.
func (*order) Removed(ident.Domain) {}

// Advertised implements timekeeper.Observer.
func (*order) Advertised(ident.Revision) {}

// task is what a task of a generation finds: whether the clock of its generation reads.
func (o *order) task(what string) {
	x := o.n.e.execution(nodetest.Domain)
	h, err := o.n.e.config.Clocks.Bind(nodetest.Domain, x.generation)
	if err != nil {
		o.note(fmt.Sprintf("%s of %d: %v", what, x.generation, err))
		return
	}
	defer h.End()
	s, err := h.Snapshot()
	o.note(fmt.Sprintf("%s of %d: clock %d, %v", what, x.generation, s.Generation, err))
}

type orderedSources struct {
	connector.Sources
	o *order
}

func (s orderedSources) OpenSource(ctx context.Context, p connector.SourcePlan, e connector.SourceEvents) (connector.SourceSession, error) {
	s.o.task("source")
	return s.Sources.OpenSource(ctx, p, e)
}

type orderedSinks struct {
	connector.Sinks
	o *order
}

func (s orderedSinks) OpenSink(ctx context.Context, p connector.SinkPlan, e connector.SinkEvents) (connector.SinkSession, error) {
	s.o.task("sink")
	return s.Sinks.OpenSink(ctx, p, e)
}

// A revision that runs a domain brings its clock first: when the clock is installed nothing of the generation exists, and whatever the revision then causes reads
// it. The same when the generation changes, and when a node begins with a state in which the domain runs.
func TestClocksAreInPlaceBeforeTasks(t *testing.T) {
	// req: C-024
	bubble(t, func(n *node) {
		o := &order{n: n}
		n.e.config.Sources, n.e.config.Sinks = orderedSources{n.fleet, o}, orderedSinks{n.sink, o}
		n.e.config.Clocks.Observe(o)
		n.source("probes", item("a", 1))
		n.define(short)
		want := func(what string, want ...string) {
			t.Helper()
			pass(time.Second)
			if got := o.take(); !slices.Equal(got, want) {
				t.Fatalf("%s: got %q\nwant %q", what, got, want)
			}
		}
		want("definitions")
		n.must(n.startDomain(false))
		want("START", "clock 1: nothing of it is there", "sink of 1: clock 1, <nil>", "source of 1: clock 1, <nil>")
		n.stopDomain()
		n.must(n.startDomain(true))
		want("START again", "clock 2: nothing of it is there", "sink of 2: clock 2, <nil>", "source of 2: clock 2, <nil>")
		// One installation that ends a generation and begins the next.
		prev := n.commit(&registry.Stop{Domain: nodetest.Domain})
		n.commit(&registry.Start{Domain: nodetest.Domain, Base: n.state.Domains[nodetest.Domain].Model})
		n.must(n.e.Install(context.Background(), prev, n.state))
		want("another generation", "clock 3: nothing of it is there", "sink of 3: clock 3, <nil>", "source of 3: clock 3, <nil>")
		// The process begins with what is committed.
		n.close()
		n.open()
		n.e.config.Sources, n.e.config.Sinks = orderedSources{n.fleet, o}, orderedSinks{n.sink, o}
		n.e.config.Clocks.Observe(o)
		n.must(n.e.Install(context.Background(), nil, n.state))
		want("a new process", "clock 3: nothing of it is there", "sink of 3: clock 3, <nil>", "source of 3: clock 3, <nil>")
	})
}
