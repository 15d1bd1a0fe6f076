// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/node/nodetest"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/shim"
	"github.com/nervix-go/nervix/wasm/instances"
)

// inside is a node's guest engine in the process of the test, for what takes thousands of turns.
type inside struct {
	t       *testing.T
	engine  *engine.Engine
	modules *instances.Modules
	file    []byte // of every pin
	store   *wasmproc.Memory
}

// run is one processor over its own relays.
type run struct {
	*nodetest.World
	in   *inside
	p    *wasmproc.Processor
	out  *nodetest.Reader
	side *nodetest.Reader
	id   int
}

// within opens an engine and closes it with everything that a test left.
func within(t *testing.T, profile engine.Profile) *inside {
	t.Helper()
	ignore := goleak.IgnoreCurrent()
	e, err := engine.New(engine.Config{Profile: profile, CacheDir: t.TempDir()}, shim.Open)
	if err != nil {
		t.Fatal(err)
	}
	in := &inside{t: t, engine: e, store: wasmproc.NewMemory()}
	in.modules = instances.New(e, func(context.Context, wasmproc.Pin) ([]byte, error) { return in.file, nil })
	t.Cleanup(func() {
		if u := e.Usage(); u.Stores != 0 || u.LinearBytes != 0 || e.Modules() != 0 {
			t.Errorf("left: %+v, %d modules", u, e.Modules())
		}
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
		goleak.VerifyNone(t, ignore)
	})
	return in
}

const insideText = `
CREATE SCHEMA item (id I64, bed STRING, act STRING);
CREATE SCHEMA seen (id I64, bed STRING, n I64);
CREATE SCHEMA bed_key (bed STRING);
CREATE BRANCH by_bed SCHEMA bed_key %s;
CREATE RELAY items SCHEMA item BRANCHED BY by_bed CAPACITY 16;
CREATE RELAY out SCHEMA seen BRANCHED BY by_bed CAPACITY 16;
CREATE RELAY side SCHEMA seen BRANCHED BY by_bed CAPACITY 16;
CREATE RESOURCE modules;
CREATE WASM PROCESSOR puppet FROM items USING RESOURCE modules VERSION 1 FILE 'puppet.wasm' MAX FUEL %d MAX MEMORY 8MiB BRANCHED BY by_bed
  TO out ON MESSAGE ERROR LOG TO side ON MESSAGE ERROR LOG ON GLOBAL ERROR LOG;`

// start runs a processor.
func (in *inside) start(branch string, fuel int, created uint64) *run {
	in.t.Helper()
	r := &run{World: nodetest.New(in.t, fmt.Sprintf(insideText, branch, fuel), 2), in: in}
	plan := r.Graph.WASMs[0]
	targets := make([]wasmproc.Target, len(plan.Routes))
	for i := range plan.Routes {
		targets[i].Relay = r.Target(plan.Routes[i].Relay)
	}
	random := rand.NewChaCha8([32]byte{3})
	var err error
	r.p, err = wasmproc.New(wasmproc.Config{
		Plan: plan, Targets: targets, Modules: in.modules, Checkpoints: in.store, Created: created, DomainType: "unpaced", Clock: r.Clock, Now: r.Clock.Now,
		Lanes: r.Exec, Benches: r.Benches, Alloc: r.Heap, Log: r.Log, Random: func(b []byte) { _, _ = random.Read(b) },
	})
	if err == nil {
		err = r.p.Start(context.Background())
	}
	if err != nil {
		in.t.Fatal(err)
	}
	r.out, r.side = r.Reader("out"), r.Reader("side")
	input := r.p.Node().Input(0)
	input.Connect(r.Relays["items"].Attach(input, true))
	return r
}

// give publishes a row and waits until the source knows what became of it; the answer is the reason of a failure.
func (r *run) give(bed, script string) string {
	r.T.Helper()
	f := r.offer(bed, script)
	r.wait("a row is settled", f.Settled)
	return f.Failed()[0]
}

// offer publishes a row.
func (r *run) offer(bed, script string) *nodetest.Fate {
	r.id++
	return r.Publish("items", []string{bed}, nil, fmt.Sprintf("%d|%s|%s%s;", r.id, bed, rowMark, script))
}

// wait polls; what it waits for takes microseconds nearly always.
func (r *run) wait(what string, ok func() bool) {
	r.T.Helper()
	for end := time.Now().Add(time.Minute); !ok(); {
		if time.Now().After(end) {
			r.T.Fatalf("not within a minute: %s\n%s", what, r.Logs)
		}
		time.Sleep(50 * time.Microsecond)
	}
}

var errOver = errors.New("the test is over")

// end stops the processor.
func (r *run) end() {
	r.p.Node().Close(errOver)
	r.p.Node().Abandon(errOver)
	if err := r.p.End(context.Background(), errOver); err != nil {
		r.T.Error(err)
	}
	r.Close()
}

// footprint is what turns may leave behind outside of the Go heap.
type footprint struct {
	cHeap int64
	maps  int
	live  uint64 // instances
}

func (r *run) measure() footprint {
	runtime.GC()
	debug.FreeOSMemory()
	return footprint{int64(shim.HeapBytes()), engine.MapCount(), uint64(r.in.engine.Usage().Stores)}
}

// flat fails if n turns leave something, every time they are run. The C heap is exact up to the caches of threads.
func (r *run) flat(n int, turns func(n int)) {
	r.T.Helper()
	before := r.measure()
	for rounds := 4; ; rounds-- {
		turns(n)
		after := r.measure()
		r.T.Logf("%d turns: C heap %+d bytes, maps %+d, instances %+d", n, after.cHeap-before.cHeap, after.maps-before.maps, int64(after.live)-int64(before.live))
		grown := after.cHeap-before.cHeap > 256<<10 || after.maps-before.maps > 40
		switch {
		case after.live != before.live, grown && rounds == 1:
			r.T.Errorf("%d turns took %+v to %+v", n, before, after)
			return
		case !grown:
			return
		}
		before = after // threads that came meanwhile have arenas; they come once, and a leak comes again
	}
}

// profiles are both layouts of guest memory.
var profiles = []engine.Profile{engine.ProfileGuard, engine.ProfileDense}

// TestTrapsAndSuccessors lets guests die in every way while they hold a row and a timeout, and their successors try a token of them.
func TestTrapsAndSuccessors(t *testing.T) {
	// req: W-020
	// req: W-102
	// req: W-122
	// req: W-238
	// req: A04 half: no backoff and no metric of it here
	// req: A12
	// req: A13 half: traps; evictions are TestComeAndGo
	for _, profile := range profiles {
		t.Run(profile.String(), func(t *testing.T) {
			in := within(t, profile)
			in.file = wat(t, puppet())
			r := in.start("TTL 1h", 200_000, 1)
			defer r.end()
			stale := emits(envelope{numbers(counter), outputs(to("out", plainColumns, sidecar(row(heldToken))))}.pack())
			ways := []struct{ script, reason string }{
				{"p(x)", "unreachable executed"}, {"p(l)", "exhausted MAX FUEL"}, {"p(G)", "exceeded MAX MEMORY"}, {"m(kx)", "unreachable executed"}, {"d(x)", "state snapshot failed"},
				{"p(c)", "call stack exhausted"}, {"p(kz)", "asked for a reset"}, {"p(iuffffffff)", "out of bounds"},
			}
			turn := func(k int) {
				bed := fmt.Sprint("b", k%3)
				way := ways[k%len(ways)]
				kept := r.offer(bed, "p(hi"+timer(3600e9)+")t(x)")
				if got := r.give(bed, way.script); !strings.Contains(got, way.reason) {
					t.Fatalf("turn %d: %s: %q", k, way.script, got)
				}
				r.wait("the row that the dead guest held has failed", func() bool { return kept.Settled() && len(kept.Failed()) == 1 })
				if got := r.give(bed, stale); !strings.Contains(got, "wasm output referenced unknown ack token ") {
					t.Fatalf("turn %d: a token of the predecessor: %q", k, got)
				}
				if got := r.give(bed, ""); got != "" {
					t.Fatalf("turn %d: the successor failed: %s", k, got)
				}
			}
			for k := range 100 {
				turn(k)
			}
			n := soak(200, 10_000)
			r.flat(n, func(n int) {
				for k := range n {
					turn(k)
				}
			})
			if o := r.p.Observe(); o.Lost < uint64(n) {
				t.Errorf("%d instances were lost in %d turns", o.Lost, n)
			}
		})
	}
}

// TestComeAndGo has many branches take turns in a few places, and count on each time.
func TestComeAndGo(t *testing.T) {
	// req: W-117
	// req: W-126
	// req: A07 half: not the recycle threshold
	// req: A13
	for _, profile := range profiles {
		t.Run(profile.String(), func(t *testing.T) {
			in := within(t, profile)
			in.file = wat(t, puppet())
			r := in.start("TTL 1h MAX INSTANCES 8 EVICT LRU", 200_000, 1)
			defer r.end()
			const beds = 60
			random := rand.New(rand.NewPCG(1, 2))
			given := map[string]int{}
			turn := func() {
				bed := fmt.Sprint("b", random.IntN(beds))
				given[bed]++
				if got := r.give(bed, ""); got != "" {
					t.Fatal(got)
				}
			}
			for range 500 {
				turn()
			}
			r.flat(soak(1_000, 100_000), func(n int) {
				for range n {
					turn()
				}
			})
			got := map[string]int{}
			for _, s := range r.out.Seen() {
				for _, row := range s.Rows {
					f := strings.Split(row, "|")
					if got[f[1]]++; f[2] != fmt.Sprint(got[f[1]]) {
						t.Fatalf("%s counted %s as number %d", f[1], f[2], got[f[1]])
					}
				}
			}
			if d := cmp.Diff(given, got); d != "" {
				t.Error(d)
			}
			r.wait("the evicted instances are gone", func() bool { return in.engine.Usage().Stores <= 8 })
			if n := in.store.Len(); n != beds {
				t.Errorf("%d checkpoints", n)
			}
		})
	}
}

// TestProcessorsComeAndGo makes a processor, uses it and ends it, with another module each time.
func TestProcessorsComeAndGo(t *testing.T) {
	// req: A06 half: create and drop; there is no ALTER yet
	in := within(t, engine.ProfileGuard)
	text := puppet()
	var before, after footprint
	n := soak(60, 1_000)
	for k := range 20 + n {
		in.file = append(wat(t, text), 0, 3, 1, 'k', byte(k%8)) // a custom section makes it another file
		r := in.start("TTL 1h", 200_000, uint64(k+1))
		if got := r.give("a", ""); got != "" {
			t.Fatal(got)
		}
		if got := r.give("a", "p(x)"); got == "" {
			t.Fatal("no trap")
		}
		r.end()
		switch k {
		case 19:
			before = r.measure()
		case 19 + n:
			after = r.measure()
		}
	}
	t.Logf("%d processors took %+v to %+v", n, before, after)
	if after.cHeap-before.cHeap > 1<<20 || after.maps-before.maps > 40 || after.live != 0 {
		t.Errorf("%d processors took %+v to %+v", n, before, after)
	}
}

// TestMutatedGuests runs modules of which some bytes were changed, in so far as they are modules: whatever they do, every row is settled.
func TestMutatedGuests(t *testing.T) {
	// req: A09
	// req: A03 half: guests by chance; those on purpose are in TestHostileGuests
	in := within(t, engine.ProfileDense)
	random := rand.New(rand.NewPCG(7, 7))
	seed := wat(t, puppet())
	rows := []string{"", "p(ihk)", "p(k" + timer(1) + ")t(k)", "p(x)", "", malformed()[3].rows[1], ""}
	ran := 0
	n := soak(300, 10_000)
	for k := range n {
		in.file = mutate(random, seed)
		if in.modules.Prepare(context.Background(), wasmproc.Pin{Domain: ident.Domain("d"), File: "m"}, 8<<20) != nil {
			continue
		}
		ran++
		r := in.start("TTL 1h", 100_000, uint64(k))
		var fates []*nodetest.Fate
		for i, script := range rows {
			fates = append(fates, r.offer(fmt.Sprint("b", i%2), script))
		}
		r.wait("the processor is quiet", func() bool {
			o := r.p.Observe()
			return !r.p.Busy() && o.Rows.Given == uint64(len(rows))
		})
		r.end()
		for i, f := range fates {
			if !f.Settled() {
				t.Errorf("module %d: row %d is not settled", k, i)
			}
		}
	}
	if ran < n/100 {
		t.Errorf("only %d of %d mutations ran", ran, n)
	}
	t.Logf("%d of %d mutations ran", ran, n)
}

// mutate changes a byte or two of a module.
func mutate(r *rand.Rand, seed []byte) []byte {
	b := bytes.Clone(seed)
	for range 1 + r.IntN(2) {
		k := 8 + r.IntN(len(b)-8)
		switch r.IntN(4) {
		case 0, 1:
			b[k] = byte(r.IntN(256))
		case 2:
			b = slices.Delete(b, k, k+1)
		default:
			b = slices.Insert(b, k, byte(r.IntN(256)))
		}
	}
	return b
}
