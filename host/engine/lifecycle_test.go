// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/node/nodetest"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/registry"
	"github.com/nervix-go/nervix/host/state"
)

func (n *node) wantEmitted(want ...string) {
	n.t.Helper()
	if got := n.emitted(); !slices.Equal(got, want) {
		n.t.Fatalf("emitted\n  %s\nwant\n  %s\n%s", strings.Join(got, "\n  "), strings.Join(want, "\n  "), n.logs)
	}
}

func TestDomainRunsStopsAndResumes(t *testing.T) {
	bubble(t, func(n *node) {
		src := n.source("probes", item("a", 1), item("a", 2))
		n.define(short)
		pass(time.Minute)
		if len(src.Plans) != 0 || len(n.sink.Plans) != 0 {
			n.t.Fatal("a stopped domain consumes nothing")
		}
		if err := n.e.Ready(context.Background(), nodetest.Domain, 1); err == nil {
			n.t.Fatal("a generation that does not run is ready")
		}
		n.must(n.startDomain(false))
		pass(time.Second)
		n.wantEmitted(item("a", 1), item("a", 2))

		n.stopDomain()
		if src.Opened() != 0 || n.sink.Opened() != 0 || len(n.e.all()) != 0 {
			n.t.Fatal("a stopped domain keeps something open")
		}
		src.Add(item("a", 3))
		pass(time.Minute)
		n.wantEmitted(item("a", 1), item("a", 2))

		// START resumes after the durable position; so does a restart of the node.
		n.must(n.startDomain(false))
		pass(time.Second)
		n.wantEmitted(item("a", 1), item("a", 2), item("a", 3))
		n.close()
		src.Add(item("a", 4))
		n.open()
		n.must(n.e.Install(context.Background(), nil, n.state))
		n.must(n.e.Ready(context.Background(), nodetest.Domain, 2))
		pass(time.Second)
		n.wantEmitted(item("a", 1), item("a", 2), item("a", 3), item("a", 4))

		// START AT NOW forgets it.
		n.stopDomain()
		n.must(n.startDomain(true))
		pass(time.Second)
		if got := n.emitted(); len(got) != 8 || got[4] != item("a", 1) {
			n.t.Fatalf("%q", got)
		}
		if p := src.Plans[len(src.Plans)-1]; p.Position != nil || p.Identity != nil {
			n.t.Fatalf("%+v", p)
		}
	})
}

// Installation may see two revisions at once. A domain that was stopped and started, or dropped and made anew, meanwhile is another execution.
func TestInstallSkipsRevisions(t *testing.T) {
	bubble(t, func(n *node) {
		src := n.source("probes", item("a", 1))
		n.define(short)
		n.must(n.startDomain(false))
		pass(time.Second)
		first := n.e.execution(nodetest.Domain)

		prev := n.commit(&registry.Stop{Domain: nodetest.Domain})
		n.commit(&registry.Start{Domain: nodetest.Domain, Base: n.state.Domains[nodetest.Domain].Model})
		n.must(n.e.Install(context.Background(), prev, n.state))
		n.must(n.e.Ready(context.Background(), nodetest.Domain, 2))
		second := n.e.execution(nodetest.Domain)
		if second == first || len(src.Plans) != 2 || src.Opened() != 1 || n.sink.Opened() != 1 {
			n.t.Fatalf("%d sources and %d sinks are open", src.Opened(), n.sink.Opened())
		}
		if err := n.e.Ready(context.Background(), nodetest.Domain, 1); err == nil {
			n.t.Fatal("the first generation is ready")
		}
		if _, err := first.clock.Snapshot(); err == nil {
			n.t.Fatal("the clock of the first generation goes on")
		}

		// Nothing else about the domain: the execution stays as it is.
		prev = n.commit(&registry.NodeStarted{Node: registry.Node{ID: 2, Incarnation: 1, Logical: "n2.node"}})
		n.must(n.e.Install(context.Background(), prev, n.state))
		if n.e.execution(nodetest.Domain) != second {
			n.t.Fatal("an execution was replaced for nothing")
		}

		for round := range 2 { // the second time both have the same generation
			prev = n.commit(&registry.Stop{Domain: nodetest.Domain})
			n.commit(&registry.DropDomain{Name: nodetest.Domain})
			n.commit(&registry.CreateDomain{Name: nodetest.Domain, Text: "CREATE UNPACED DOMAIN farm;", Grammar: 1, Pace: registry.Unpaced, Placement: registry.PlacementNeutral})
			n.commit(n.puts(short, false))
			n.commit(&registry.Start{Domain: nodetest.Domain, Base: n.state.Domains[nodetest.Domain].Model})
			n.must(n.e.Install(context.Background(), prev, n.state))
			n.must(n.e.Ready(context.Background(), nodetest.Domain, 1))
			pass(time.Second)
			if got := n.emitted(); len(got) != round+2 { // a new domain begins anew
				n.t.Fatalf("%q", got)
			}
			if src.Opened() != 1 || n.sink.Opened() != 1 {
				n.t.Fatalf("%d sources and %d sinks are open", src.Opened(), n.sink.Opened())
			}
		}
	})
}

func TestDropForgetsPositions(t *testing.T) {
	bubble(t, func(n *node) {
		n.source("probes", item("a", 1))
		n.define(short)
		n.must(n.startDomain(false))
		pass(time.Second)
		key := state.PositionKey{Domain: nodetest.Domain, Ingestor: "probes", Epoch: positionEpoch(n.state.Domains[nodetest.Domain], "probes")}
		if _, found, err := n.store.GetPosition(key); err != nil || !found {
			n.t.Fatalf("found %v, %v", found, err)
		}
		n.stopDomain()
		// An ingestor that was dropped, and one that was made anew under its name, begin anew.
		n.must(n.apply(&registry.MutateModels{Domain: nodetest.Domain, Base: n.state.Domains[nodetest.Domain].Model, Drops: []registry.Key{{Kind: ident.KindIngestor, Name: "probes"}}}))
		if _, found, err := n.store.GetPosition(key); err != nil || found {
			n.t.Fatalf("found %v, %v after the ingestor was dropped", found, err)
		}
		i := strings.Index(short, "CREATE INGESTOR")
		j := strings.Index(short, "CREATE JUNCTION")
		n.must(n.apply(n.puts(short[i:j], false)))
		n.must(n.startDomain(false))
		pass(time.Second)
		if got := n.emitted(); len(got) != 2 {
			n.t.Fatalf("%q", got)
		}
		n.stopDomain()
		n.must(n.apply(&registry.DropDomain{Name: nodetest.Domain}))
		n.must(n.store.Barrier().Wait(context.Background()))
		if _, found, err := n.store.GetPosition(key); err != nil || found {
			n.t.Fatalf("found %v, %v after the domain was dropped", found, err)
		}
		if _, err := n.ask("SHOW INGESTORS"); err == nil || !strings.Contains(err.Error(), "no such domain") {
			n.t.Fatal(err)
		}
	})
}

func TestMissingSource(t *testing.T) {
	bubble(t, func(n *node) {
		src := n.source("probes", item("a", 1))
		src.Refuse = errors.New("/data/in.ndjson: no such file or directory")
		n.define(short)
		// START fails, with the reason and the place.
		err := n.startDomain(false)
		if err == nil || !strings.Contains(err.Error(), "/data/in.ndjson") || !strings.Contains(err.Error(), "probes") {
			n.t.Fatal(err)
		}
		n.must(n.apply(&registry.Stop{Domain: nodetest.Domain, Generation: 1}))
		if n.sink.Opened() != 0 || src.Opened() != 0 || len(n.e.all()) != 0 {
			n.t.Fatal("a failed start left something open")
		}
		pass(time.Hour)
		if len(src.Plans) != 1 {
			n.t.Fatalf("a failed start was tried %d times", len(src.Plans))
		}
		// A domain that runs when the node starts resumes, and the source is tried until it is there (Q57).
		n.commit(&registry.Start{Domain: nodetest.Domain, Base: n.state.Domains[nodetest.Domain].Model})
		n.must(n.e.Install(context.Background(), nil, n.state))
		n.must(n.e.Ready(context.Background(), nodetest.Domain, 2))
		pass(100 * time.Millisecond)
		n.show("DESCRIBE INGESTOR probes", "transient error: ", "/data/in.ndjson")
		pass(time.Minute)
		tries := len(src.Plans)
		if tries < 10 || tries > 30 || n.logs.Count("source is missing", "no such file") != 1 {
			n.t.Fatalf("%d tries in a minute\n%s", tries, n.logs)
		}
		src.Do(func() { src.Refuse = nil })
		pass(5 * time.Second)
		n.wantEmitted(item("a", 1))
		n.show("DESCRIBE INGESTOR probes", "transient error: -")
	})
}

// A sink whose connector is refused fails START; when the domain resumes it is tried until it is there, and rows wait for it.
func TestRefusedSink(t *testing.T) {
	bubble(t, func(n *node) {
		n.source("probes", item("a", 1))
		n.sink.Refuse = errors.New("connector file is not installed")
		n.define(short)
		if err := n.startDomain(false); err == nil || !strings.Contains(err.Error(), "not installed") || !strings.Contains(err.Error(), "sink") {
			n.t.Fatal(err)
		}
		n.must(n.apply(&registry.Stop{Domain: nodetest.Domain, Generation: 1}))
		n.commit(&registry.Start{Domain: nodetest.Domain, Base: n.state.Domains[nodetest.Domain].Model})
		n.must(n.e.Install(context.Background(), nil, n.state))
		pass(time.Minute)
		if n.logs.Count("sink is missing", "not installed") != 1 || len(n.emitted()) != 0 {
			n.t.Fatal(n.logs)
		}
		n.sink.Do(func() { n.sink.Refuse = nil })
		pass(5 * time.Second)
		n.wantEmitted(item("a", 1))
		if n.fleet.sources["probes"].Acks()[0] != 1 {
			n.t.Fatal("not acknowledged")
		}
	})
}

// STOP comes while a missing source is tried again; the source that opens at that moment must not stay open.
func TestStopWhileASourceOpens(t *testing.T) {
	bubble(t, func(n *node) {
		src := n.source("probes", item("a", 1))
		src.Refuse = errors.New("not yet")
		n.define(short)
		n.commit(&registry.Start{Domain: nodetest.Domain, Base: n.state.Domains[nodetest.Domain].Model})
		n.must(n.e.Install(context.Background(), nil, n.state))
		slow := func(ctx context.Context) { // opened, and slow to say so
			<-ctx.Done()
			_ = osclock.Wait(context.Background(), 100*time.Millisecond)
		}
		src.Do(func() { src.Opening = slow })
		src.Do(func() { src.Refuse = nil })
		pass(10 * time.Second)
		if src.Opened() != 1 {
			n.t.Fatalf("%d sessions", src.Opened())
		}
		n.stopDomain()
		pass(time.Minute)
		if src.Opened() != 0 {
			n.t.Fatalf("%d sessions are open after STOP", src.Opened())
		}
	})
}

func TestCapacityChangesTheLiveRelay(t *testing.T) {
	// req: R-020
	// req: R-042 half: node consumers, branches and batches stay; subscriptions come with sessions
	bubble(t, func(n *node) {
		n.sink.Respond = func(nodetest.Attempt) nodetest.Answer { return nodetest.Answer{None: true} }
		src := n.source("probes")
		n.define(short)
		n.must(n.startDomain(false))
		src.Do(func() { src.Size = 1 })
		for i := range 12 {
			src.Add(item("a", i+1))
			pass(time.Millisecond)
		}
		x := n.e.execution(nodetest.Domain)
		outs := x.relays["outs"]
		if o := outs.Observe(); o.Depth != 2 || o.Waiting != 1 || o.Capacity != 2 {
			n.t.Fatalf("%+v", o)
		}
		n.must(n.apply(n.puts("CREATE RELAY outs SCHEMA reading BRANCHED BY by_bed CAPACITY 4;", true)))
		pass(time.Millisecond)
		if n.e.execution(nodetest.Domain) != x || x.relays["outs"] != outs {
			n.t.Fatal("the running relay was replaced")
		}
		if o := outs.Observe(); o.Depth != 4 || o.Waiting != 1 || o.Capacity != 4 || !outs.Exists(`{"bed":"a"}`) {
			n.t.Fatalf("%+v", o)
		}
		n.show("DESCRIBE RELAY outs", "capacity: 4", "buffered=4")
		n.must(n.apply(n.puts("CREATE RELAY outs SCHEMA reading BRANCHED BY by_bed CAPACITY 1;", true)))
		pass(time.Millisecond)
		if o := outs.Observe(); o.Depth != 4 || o.Capacity != 1 {
			n.t.Fatalf("%+v", o)
		}
		n.sink.Do(func() { n.sink.Respond = nil })
		n.sink.Answer(1, nodetest.All(n.sink.Attempts()[0]))
		pass(time.Second)
		var want []string
		for i := range 12 {
			want = append(want, item("a", i+1))
		}
		n.wantEmitted(want...)
		if src.Acks()[len(src.Acks())-1] != 12 || src.Opened() != 1 {
			n.t.Fatalf("acknowledged %v", src.Acks())
		}
	})
}

// ACK TIMEOUT is 5 s. Rows that wait for a flush, for a place or for a slow sink are alive, wherever they wait.
func TestRowsOnTheirWayAreAlive(t *testing.T) {
	text := strings.Replace(short, "TO outs INHERIT ALL EXCEPT n SET n = input.n + 0 / (input.n - 13) FLUSH IMMEDIATE", "TO outs INHERIT ALL FLUSH EACH 20s MAX BATCH SIZE 1MiB", 1)
	bubble(t, func(n *node) {
		n.sink.Respond = func(nodetest.Attempt) nodetest.Answer { return nodetest.Answer{None: true} }
		src := n.source("probes")
		n.define(text)
		n.must(n.startDomain(false))
		for i := range 10 {
			src.Add(item("a", i+1))
			pass(8 * time.Second)
		}
		x := n.e.execution(nodetest.Domain)
		if x.relays["outs"].Observe().Depth == 0 || n.e.Progress().Moved != 10 {
			n.t.Fatalf("outs %+v", x.relays["outs"].Observe())
		}
		pass(time.Minute)
		if got := src.Rejects(); len(got) != 0 {
			n.t.Fatalf("asked again for %v", got)
		}
		n.sink.Do(func() { n.sink.Respond = nil })
		n.sink.Answer(1, nodetest.All(n.sink.Attempts()[0]))
		pass(time.Minute)
		if acks := src.Acks(); len(n.emitted()) != 10 || acks[len(acks)-1] != 10 || len(src.Rejects()) != 0 {
			n.t.Fatalf("emitted %q, acknowledged %v", n.emitted(), acks)
		}
	})
}

func TestDrainFlushesEveryBuffer(t *testing.T) {
	text := strings.ReplaceAll(short, "FLUSH IMMEDIATE", "FLUSH EACH 1h MAX BATCH SIZE 1MiB")
	bubble(t, func(n *node) {
		src := n.source("probes", item("a", 1), item("b", 2), item("a", 3))
		n.define(text)
		n.must(n.startDomain(false))
		pass(time.Second)
		if p := n.e.Progress(); !p.Busy || len(n.emitted()) != 0 {
			n.t.Fatalf("%+v", p)
		}
		if left := n.e.Drain(context.Background()); left != nil {
			n.t.Fatalf("%v did not settle", left)
		}
		if src.Opened() != 0 || n.e.Progress().Busy || len(n.emitted()) != 3 {
			n.t.Fatalf("%d sessions open, emitted %q", src.Opened(), n.emitted())
		}
		n.show("DESCRIBE INGESTOR probes", "status: stopped", "unresolved: 0", "line=3")
	})
}

func TestDrainIsBoundedAndHonest(t *testing.T) {
	bubble(t, func(n *node) {
		n.sink.Respond = func(nodetest.Attempt) nodetest.Answer {
			return nodetest.Answer{Failure: errors.New("no space left on device")}
		}
		src := n.source("probes", item("a", 1))
		n.define(short)
		n.must(n.startDomain(false))
		pass(time.Second)
		ctx, cancel := osclock.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		began := osclock.Mono()
		if left := n.e.Drain(ctx); !slices.Equal(left, []ident.Domain{nodetest.Domain}) || osclock.Mono().Sub(began) != 3*time.Second {
			n.t.Fatalf("%v did not settle after %v", left, osclock.Mono().Sub(began))
		}
		if p := n.e.Progress(); !p.Busy || !strings.Contains(p.Failing, "no space left") || !strings.Contains(p.Failing, "sink") {
			n.t.Fatalf("%+v", p)
		}
		// STOP ends what does not settle, and the row is read again.
		n.stopDomain()
		n.sink.Do(func() { n.sink.Respond = nil })
		if len(src.Acks()) != 0 {
			n.t.Fatalf("acknowledged %v", src.Acks())
		}
		n.must(n.startDomain(false))
		pass(time.Second)
		if got := src.Acks(); len(got) != 1 || got[0] != 1 {
			n.t.Fatalf("acknowledged %v", got)
		}
	})
}

func TestFinishedPipeline(t *testing.T) {
	bubble(t, func(n *node) {
		src := n.source("probes", item("a", 1), item("a", 0), "?", item("b", 2))
		src.End = true
		n.define(short)
		n.must(n.startDomain(false))
		pass(99 * time.Millisecond)
		if p := n.e.Progress(); p.Finite != 1 || p.Finished != 0 || p.Blocked != 0 || p.Busy || p.Moved != 4+2 {
			n.t.Fatalf("%+v", p)
		}
		pass(time.Second)
		p := n.e.Progress()
		if p.Finished != 0 || p.Blocked != 1 || p.Moved != 4+2 {
			n.t.Fatalf("%+v", p)
		}
		r := n.e.Report()
		if len(r.Ingestors) != 1 || len(r.Emitters) != 1 {
			n.t.Fatalf("%+v", r)
		}
		in, out := r.Ingestors[0], r.Emitters[0]
		if in.Domain != nodetest.Domain || in.Name != "probes" || in.Status != "blocked" || in.Read != 4 || !strings.HasPrefix(in.Blocked, "offset=30 line=3 attempts=") ||
			!strings.Contains(in.Blocked, "line 3, offset 30: ") || out.Name != "sink" || out.Emitted != 2 {
			n.t.Fatalf("%+v", r)
		}
		src.Mend(3, item("c", 3))
		pass(2 * time.Second)
		if p := n.e.Progress(); p.Finished != 1 || p.Blocked != 0 || p.Busy {
			n.t.Fatalf("%+v", p)
		}
		if left := n.e.Drain(context.Background()); left != nil {
			n.t.Fatal(left)
		}
		after := r.Refresh(n.e.Report())
		if after.Ingestors[0].Status != "blocked" || after.Emitters[0].Emitted != 3 {
			n.t.Fatalf("%+v", after)
		}
	})
}

// A process may die between a commit and its installation. What was dropped and made anew meanwhile begins anew.
func TestDropBeforeARestartForgetsPositions(t *testing.T) {
	ingestor := short[strings.Index(short, "CREATE INGESTOR"):strings.Index(short, "CREATE JUNCTION")]
	key := registry.Key{Kind: ident.KindIngestor, Name: "probes"}
	for _, before := range []bool{true, false} { // made anew before the restart, after it
		bubble(t, func(n *node) {
			src := n.source("probes", item("a", 1))
			n.define(short)
			n.must(n.startDomain(false))
			pass(time.Second)
			n.stopDomain()
			n.commit(&registry.MutateModels{Domain: nodetest.Domain, Base: n.state.Domains[nodetest.Domain].Model, Drops: []registry.Key{key}})
			if before {
				n.commit(n.puts(ingestor, false))
			}
			n.close()
			n.open()
			n.must(n.e.Install(context.Background(), nil, n.state))
			if !before {
				n.must(n.apply(n.puts(ingestor, false)))
			}
			n.must(n.startDomain(false))
			pass(time.Second)
			n.wantEmitted(item("a", 1), item("a", 1))

			// An ingestor that stays goes on where it was.
			src.Add(item("a", 2))
			pass(time.Second)
			n.close()
			n.open()
			n.must(n.e.Install(context.Background(), nil, n.state))
			pass(time.Second)
			n.wantEmitted(item("a", 1), item("a", 1), item("a", 2))
		})
	}
}
