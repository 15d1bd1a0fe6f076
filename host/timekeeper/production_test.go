// SPDX-License-Identifier: Apache-2.0

package timekeeper

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/timekeeper/authority"
)

// wire is a link whose peers answer, refuse or keep silent.
type wire struct {
	mu     sync.Mutex
	sent   []string
	silent bool
	err    error
	under  int
	most   int
}

func (w *wire) Deliver(ctx context.Context, to ident.Node, p clock.Progress) error {
	w.mu.Lock()
	w.sent = append(w.sent, fmt.Sprintf("%d to %s", p.Tick.ID, to))
	w.under++
	w.most = max(w.most, w.under)
	silent, err := w.silent, w.err
	w.mu.Unlock()
	defer func() { w.mu.Lock(); w.under--; w.mu.Unlock() }()
	if silent {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return err
}

func (w *wire) set(silent bool, err error) { w.mu.Lock(); w.silent, w.err = silent, err; w.mu.Unlock() }

func (w *wire) take() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	sent := w.sent
	w.sent = nil
	return sent
}

// plant is a node that produces ticks.
type plant struct {
	k    *Keeper
	p    *Production
	link *wire
	logs *bytes.Buffer
}

func newPlant() *plant {
	n := &plant{k: New(Config{}), link: &wire{}, logs: &bytes.Buffer{}}
	n.p = Produce(ProductionConfig{Self: self, Keeper: n.k, Link: n.link, Log: slog.New(slog.NewTextHandler(n.logs, nil)), Quota: 4})
	return n
}

// now is paced, anchored at the present of the bubble.
func now(d ident.Domain, generation ident.Generation, fence uint64, who clock.Authority) clock.Lifecycle {
	l := paced(d, generation, fence, who)
	l.Mapping.WallStartedAt = osclock.UTC()
	return l
}

func pass(d time.Duration) { time.Sleep(d); synctest.Wait() }

func (n *plant) ticked(t *testing.T, d ident.Domain, want uint64) {
	t.Helper()
	if p, ok := n.k.cell(d).tick(); p.Tick.ID != want || ok != (want != 0) {
		t.Fatalf("tick %d (%v) of %s, want %d", p.Tick.ID, ok, d, want)
	}
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%q, want %q", got, want)
	}
}

// A cluster of one produces its ticks without a network; START and STOP move them; a stop of the process does not end them.
func TestOneNodeTicks(t *testing.T) {
	// req: C-028, C-053, C-057
	// req: C-064 half: the order of the shutdown is the engine's
	synctest.Test(t, func(t *testing.T) {
		n := newPlant()
		l := now("farm", 1, 1, self)
		n.k.Install(all(l, unpaced("plain", 1), paced("far", 1, 1, other)), 1)
		synctest.Wait()
		n.ticked(t, "farm", 1)
		pass(2500 * time.Millisecond)
		n.ticked(t, "farm", 3)
		n.ticked(t, "far", 0)
		n.k.Install(all(stopped(l)), 2)
		pass(time.Hour)
		n.ticked(t, "farm", 0)
		n.k.Install(all(now("farm", 2, 3, self)), 3)
		synctest.Wait()
		n.ticked(t, "farm", 1)
		n.k.Install(nil, 4)
		synctest.Wait()
		n.p.Close()
		if len(n.p.machine.Producing()) != 0 || n.logs.Len() != 0 {
			t.Fatalf("%v %s", n.p.machine.Producing(), n.logs)
		}
	})
}

// What was installed before the production began is produced too, from the latest due tick.
func TestProductionStartsWithWhatIsInstalled(t *testing.T) {
	// req: C-052
	// req: C-146 half: a restart of the whole node is the engine's
	synctest.Test(t, func(t *testing.T) {
		k := New(Config{})
		k.Install(all(now("farm", 1, 1, self)), 1)
		pass(7 * time.Second)
		p := Produce(ProductionConfig{Self: self, Keeper: k, Log: slog.New(slog.DiscardHandler)})
		defer p.Close()
		synctest.Wait()
		if got, ok := k.cell("farm").tick(); !ok || got.Tick.ID != 8 {
			t.Fatalf("%+v", got)
		}
	})
}

func TestDeliveryOverALink(t *testing.T) {
	// req: C-058, C-062, C-063
	synctest.Test(t, func(t *testing.T) {
		n := newPlant()
		n.p.Peer(authority.Peer{Node: 2, Incarnation: 1, Revision: 1, Live: true})
		l := now("farm", 1, 1, self)
		n.k.Install(all(l), 1)
		synctest.Wait()
		same(t, n.link.take(), "1 to n2")
		n.link.set(true, nil)
		pass(time.Second)
		same(t, n.link.take(), "2 to n2") // and no answer: a deadline of 2 s, a pause of 200 ms, then the newest
		pass(2199 * time.Millisecond)
		same(t, n.link.take())
		n.link.set(false, errors.New("refused"))
		pass(time.Millisecond)
		same(t, n.link.take(), "4 to n2")
		n.link.set(false, nil)
		pass(200 * time.Millisecond)
		same(t, n.link.take(), "4 to n2")
		n.link.set(true, nil)
		pass(600 * time.Millisecond)
		same(t, n.link.take(), "5 to n2")
		n.k.InstallFences(all(func() clock.Lifecycle { l := l; l.Fence = clock.Fence{Revision: 2, Authority: other}; return l }()), 2)
		synctest.Wait()
		if n.link.under != 0 {
			t.Fatal("a request of a retired producer is under way")
		}
		pass(time.Hour)
		same(t, n.link.take())
		n.p.Forget(2)
		n.p.Close()
		if n.link.most != 1 {
			t.Fatalf("%d requests at once", n.link.most)
		}
	})
}

// Closing ends requests under way and the goroutine; goleak looks.
func TestCloseWhileDelivering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newPlant()
		n.link.set(true, nil)
		for node := ident.Node(2); node < 9; node++ {
			n.p.Peer(authority.Peer{Node: node, Revision: 1, Live: true})
		}
		n.k.Install(all(now("farm", 1, 1, self)), 1)
		synctest.Wait()
		if n.link.under != 4 {
			t.Fatalf("%d requests under way, the quota is 4", n.link.under)
		}
		n.p.Close()
		if n.link.under != 0 {
			t.Fatal("a request outlives the production")
		}
		n.k.Install(nil, 2) // observers of a closed production are harmless
	})
}

// A tick that cannot be produced is told with its whole cause, and once.
func TestFailuresAreLogged(t *testing.T) {
	// req: C-147
	synctest.Test(t, func(t *testing.T) {
		n := newPlant()
		l := now("farm", 1, 1, self)
		l.Mapping.LogicalStart = vtime.LogicalFromNS(math.MaxInt64 - 1)
		n.k.Install(all(l), 1)
		pass(time.Hour)
		n.p.Close()
		text := n.logs.String()
		for _, word := range []string{"domain=farm", "no further tick", "tick 2 passes 2262-04-11T23:47:16.854775807Z", vtime.ErrRange.Error(), "clock.range"} {
			if !strings.Contains(text, word) {
				t.Errorf("%q lacks %q", text, word)
			}
		}
		if strings.Count(text, "\n") != 1 {
			t.Errorf("%s", text)
		}
		n.ticked(t, "farm", 1)
	})
}

// Three keepers, the third holds back its graph: the second takes ticks of the new authority at once.
func TestTakeoverDoesNotWaitForGraphs(t *testing.T) {
	// req: C-025, C-049, C-202, C-052
	synctest.Test(t, func(t *testing.T) {
		nodes := map[ident.Node]*Keeper{1: New(Config{}), 2: New(Config{}), 3: New(Config{})}
		link := func(from ident.Node) Link {
			return deliverFunc(func(_ context.Context, to ident.Node, p clock.Progress) error { return nodes[to].Receive(from, p) })
		}
		var productions []*Production
		for n := ident.Node(1); n < 4; n++ {
			p := Produce(ProductionConfig{Self: clock.Authority{Node: n, Incarnation: 1}, Keeper: nodes[n], Link: link(n), Log: slog.New(slog.DiscardHandler)})
			defer p.Close()
			productions = append(productions, p)
		}
		for n, k := range nodes {
			k.Observe(advertiser{func(r ident.Revision) {
				for _, p := range productions {
					p.Peer(authority.Peer{Node: n, Incarnation: 1, Revision: r, Live: true})
				}
			}})
		}
		l := now("farm", 1, 1, clock.Authority{Node: 1, Incarnation: 1})
		for _, k := range nodes {
			k.Install(all(l), 1)
		}
		pass(1500 * time.Millisecond)
		kept := func(n ident.Node) clock.Progress { p, _ := nodes[n].cell("farm").tick(); return p }
		for n := range nodes {
			if kept(n).Tick.ID != 2 {
				t.Fatalf("n%d has tick %d", n, kept(n).Tick.ID)
			}
		}
		// Node 1 is gone. Node 2 takes over; no graph is installed anywhere, and on node 3 not even the fence.
		productions[0].Close()
		moved := l
		moved.Fence = clock.Fence{Revision: 2, Authority: clock.Authority{Node: 2, Incarnation: 1}}
		nodes[2].InstallFences(all(moved), 2)
		synctest.Wait()
		pass(2 * time.Second)
		if p := kept(2); p.Tick.ID != 4 || p.Fence != moved.Fence {
			t.Fatalf("n2 has %+v", p)
		}
		if p := kept(3); p.Tick.ID != 2 {
			t.Fatalf("n3 took %+v", p)
		}
		nodes[3].InstallFences(all(moved), 2)
		synctest.Wait()
		if p := kept(3); p.Tick.ID != 4 || p.Fence != moved.Fence {
			t.Fatalf("n3 has %+v", p)
		}
	})
}

type deliverFunc func(context.Context, ident.Node, clock.Progress) error

func (f deliverFunc) Deliver(ctx context.Context, to ident.Node, p clock.Progress) error {
	return f(ctx, to, p)
}

// advertiser passes on what a node advertises.
type advertiser struct{ f func(ident.Revision) }

func (advertiser) Installed(clock.Lifecycle, ident.Revision) {}
func (advertiser) Removed(ident.Domain)                      {}
func (a advertiser) Advertised(r ident.Revision)             { a.f(r) }
