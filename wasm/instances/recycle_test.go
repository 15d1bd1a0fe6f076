// SPDX-License-Identifier: Apache-2.0

package instances_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/node/nodetest"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/wasm/instances"
)

// third runs another processor over the relay `third`, with a module of its own.
func (b *bench) third(module []byte, r wasmproc.Recycling, use func(p *wasmproc.Processor, say func(rows ...string) *nodetest.Fate)) {
	b.T.Helper()
	plan := b.Graph.WASMs[0]
	p, err := wasmproc.New(wasmproc.Config{
		Plan: plan, Targets: []wasmproc.Target{{Relay: b.Target(plan.Routes[0].Relay)}}, Modules: instances.New(b.e, files{"counter": module}.read),
		Checkpoints: wasmproc.NewMemory(), Created: 2, DomainType: "unpaced", Clock: b.Clock, Now: b.Clock.Now, Lanes: b.Exec, Benches: b.Benches, Alloc: b.Heap,
		Log: b.Log, Random: func(p []byte) { clear(p) }, Recycling: r,
	})
	if err != nil {
		b.T.Fatal(err)
	}
	input := p.Node().Input(0)
	input.Connect(b.Relays["third"].Attach(input, true))
	if err := p.Start(context.Background()); err != nil {
		b.T.Fatal(err)
	}
	use(p, func(rows ...string) *nodetest.Fate {
		b.T.Helper()
		f := b.Publish("third", []string{"oslo"}, nil, rows...)
		b.wait("an end of "+rows[0], f.Settled)
		return f
	})
	p.Node().Close(errEnd)
	p.Node().Abandon(errEnd)
	if err := p.End(context.Background(), errEnd); err != nil {
		b.T.Fatal(err)
	}
	if left := b.e.Usage().Stores; left != 0 {
		b.T.Errorf("%d instances are left", left)
	}
}

// A guest in C that one large batch made large goes back to what it began with, and counts on: no row is lost, none is counted twice.
func TestLargeGuestIsReplaced(t *testing.T) {
	// req: A07, W-116, W-117
	counter, err := os.ReadFile("../guest/testdata/c_counter.wasm")
	if err != nil {
		t.Fatal(err)
	}
	b := start(t)
	defer b.end()
	trends := b.Reader("trends")
	b.third(counter, wasmproc.Recycling{Floor: 1 << 20, After: 6}, func(p *wasmproc.Processor, say func(...string) *nodetest.Fate) {
		memory := func() uint64 { return p.Observe().Details[0].MemoryBytes }
		say(day("oslo", 1, 1))
		small := memory()
		rows := make([]string, 5000)
		for i := range rows {
			rows[i] = day("oslo", 1, 1)
		}
		say(rows...)
		if memory() < 1<<20 {
			t.Fatalf("%d bytes after a large batch", memory())
		}
		for range 8 {
			if f := say(day("oslo", 1, 1)); len(f.Failed()) > 0 {
				t.Fatal(f.Failed())
			}
		}
		b.wait("the end of the last work", func() bool { return !p.Busy() })
		if o := p.Observe(); o.Recycled != 1 || o.Made != 2 || o.Lost != 0 || o.Instances != 1 || o.ErrorsTotal != 0 || o.Details[0].MemoryBytes > 2*small {
			t.Fatalf("%+v, at first %d bytes", o, small)
		}
	})
	for i, r := range trends.Rows() {
		if n := strings.Split(r, "|")[3]; n != fmt.Sprint(i+1) {
			t.Fatalf("row %d is counted %s", i+1, n)
		}
	}
	if n := len(trends.Rows()); n != 5009 {
		t.Fatalf("%d rows", n)
	}
}
