// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/node/nodetest"
	"github.com/nervix-go/nervix/host/nspl/parse"
	"github.com/nervix-go/nervix/host/observe"
	"github.com/nervix-go/nervix/host/registry"
	"github.com/nervix-go/nervix/host/state"
)

// beside makes the engine of another node of the cluster, which gets the same committed states and the same connectors.
func (n *node) beside(id ident.Node) (other *Engine, end func()) {
	n.t.Helper()
	store, err := state.Open("data/state", state.Options{Node: id, FS: vfs.NewMem()})
	if err != nil {
		n.t.Fatal(err)
	}
	other = New(Config{Node: id, Sources: n.fleet, Sinks: n.sink, Store: store, Log: slog.New(slog.NewTextHandler(n.logs, nil)), Lanes: 1})
	return other, func() {
		if err := other.Close(context.Background()); err != nil {
			n.t.Error(err)
		}
		if err := store.Close(); err != nil {
			n.t.Error(err)
		}
	}
}

// The same revisions reach two nodes; the schedule names one of them. What a relay is at run time exists there, and on the other node nothing of it.
func TestRelayExistsOnItsOwnerOnly(t *testing.T) {
	// req: R-002
	bubble(t, func(n *node) {
		other, end := n.beside(2)
		defer end()
		n.source("probes", item("a", 1), item("b", 2), item("a", 13))
		n.define(short)
		prev := n.state
		n.must(n.startDomain(false))
		n.must(other.Install(context.Background(), prev, n.state))
		pass(time.Second)

		for _, at := range []struct {
			e       *Engine
			owner   bool
			buffers string
		}{{n.e, true, "physical_node=" + self.String() + " buffered=0"}, {other, false, "relay_buffers: -"}} {
			type series struct {
				metric observe.Metric
				relay  string
			}
			exported := map[series]bool{}
			for _, r := range at.e.Readings() {
				exported[series{r.Metric, strings.Join(r.Labels[1:3], " ")}] = true
				if node := r.Labels[3]; node != at.e.NodeName() {
					t.Errorf("%s exports a series of %s", at.e.NodeName(), node)
				}
			}
			for _, metric := range []observe.Metric{observe.RelayBufferLen, observe.BranchInstances, observe.MessagesTotal} {
				if exported[series{metric, "RELAY ins"}] != at.owner {
					t.Errorf("%s exports metric %d of the relay: %v", at.e.NodeName(), metric, !at.owner)
				}
			}
			if x := at.e.execution(nodetest.Domain); (x != nil) != at.owner || x != nil && x.relays["ins"].Observe().Consumers != 1 {
				t.Errorf("%s: buffer and consumers", at.e.NodeName())
			}
			// Both know whose the relay is.
			expect(t, inspect(t, at.e, n.state, "DESCRIBE RELAY ins"), "owner: "+self.String(), at.buffers)
			exists := map[bool]string{true: "\nexists\n", false: "\ndoes not exist\n"}[at.owner]
			expect(t, inspect(t, at.e, n.state, "DESCRIBE RELAY ins WHERE (bed = 'a')"), exists)
		}
		if src := n.fleet.sources["probes"]; len(src.Plans) != 1 || len(n.sink.Plans) != 1 {
			t.Errorf("opened %d sources and %d sinks", len(src.Plans), len(n.sink.Plans))
		}
		if got := n.emitted(); len(got) != 2 {
			t.Errorf("emitted %q", got)
		}
	})
}

// A node executes what the schedule gives it, from the revision on that says so, and ends it with the one that gives it to another.
func TestScheduleDecidesWhoExecutes(t *testing.T) {
	// req: G-001 half: leaving and taking over by a schedule; authority of the committed state is in TestNodeRunsExactlyWhatIsCommitted
	bubble(t, func(n *node) {
		src := n.source("probes", item("a", 1))
		n.define(short)
		n.must(n.apply(&registry.NodeStarted{Node: registry.Node{ID: 2, Incarnation: 1, Logical: "n2.node"}}))
		d := n.state.Domains[nodetest.Domain]
		away := puts(t, d, short, false, 2)
		// One of them here, the rest elsewhere: nothing can run here yet.
		away.Assign[0].Node = self
		n.must(n.apply(away))
		if err := n.startDomain(false); err == nil {
			t.Fatal("a node is ready with what it does not execute")
		}
		pass(time.Minute)
		if len(src.Plans) != 0 || len(n.sink.Plans) != 0 || len(n.e.Readings()) != 0 {
			t.Fatalf("%d sources and %d sinks were opened", len(src.Plans), len(n.sink.Plans))
		}
		n.stopDomain()
		n.must(n.apply(puts(t, n.state.Domains[nodetest.Domain], short, false, self)))
		n.must(n.startDomain(false))
		pass(time.Second)
		n.wantEmitted(item("a", 1))
		prev := n.commit(&registry.Stop{Domain: nodetest.Domain})
		n.commit(puts(t, n.state.Domains[nodetest.Domain], short, false, 2))
		n.commit(&registry.Start{Domain: nodetest.Domain, Base: n.state.Domains[nodetest.Domain].Model})
		n.must(n.e.Install(context.Background(), prev, n.state))
		if src.Opened() != 0 || n.sink.Opened() != 0 || len(n.e.all()) != 0 {
			t.Fatal("the node goes on with what is another's now")
		}
	})
}

func inspect(t *testing.T, e *Engine, s *registry.State, text string) string {
	t.Helper()
	stmt, faults := parse.Statement(text)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	got, err := e.Inspect(context.Background(), s, nodetest.Domain, stmt)
	if err != nil {
		t.Fatal(err)
	}
	return got.Text
}

func expect(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%q is missing in\n%s", w, text)
		}
	}
}
