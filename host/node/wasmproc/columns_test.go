// SPDX-License-Identifier: Apache-2.0

package wasmproc_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/node/nodetest"
	"github.com/nervix-go/nervix/host/node/wasmproc"
)

// catcher keeps the batches it is given, as a relay or as a consumer of one.
type catcher struct {
	mu     sync.Mutex
	caught []*batch.Batch
	seq    uint64
}

func (c *catcher) Publish(p *batch.Publication) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.caught = append(c.caught, p.Batch)
	return true
}

func (c *catcher) Offer(b *batch.Batch, seq uint64) bool {
	c.seq = seq
	return c.Publish(&batch.Publication{Batch: b})
}

func (c *catcher) last() *batch.Batch {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.caught[len(c.caught)-1]
}

func (c *catcher) letGo() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.caught {
		b.Settle()
	}
	c.caught = nil
}

// inside says whether the values of a lie in the memory of those of b.
func inside(a arrow.Array, b []byte) bool {
	buffers := a.Data().Buffers()
	raw := buffers[len(buffers)-1].Bytes()
	from, low := uintptr(unsafe.Pointer(unsafe.SliceData(raw))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return len(raw) > 0 && from >= low && from+uintptr(len(raw)) <= low+uintptr(len(b))
}

func valuesOf(a arrow.Array) []byte {
	buffers := a.Data().Buffers()
	return buffers[len(buffers)-1].Bytes()
}

// aligned moves a message so that the stream in it begins at a multiple of 8, as the messages of good guests do; others are copied once more.
func aligned(message, stream []byte) []byte {
	room := make([]byte, len(message)+8)
	shift := (8 - bytes.Index(message, stream)%8) % 8
	return room[shift : shift+copy(room[shift:], message)]
}

// Columns are the memory they came from wherever rows lie together: identity, stretches, and generated columns in every route.
func TestColumnsAreShared(t *testing.T) {
	// req: W-075, W-110, W-304 half: the copy out of guest memory is the adapter's
	var message []byte
	s := script{batch: func(g *guest, in *given) int32 {
		o := envelope()
		switch in.text(0, 0) {
		case "all":
			o.generated([]string{"p", "q", "r"}, []int64{1, 2, 3})
			o.to("copies", "gen0", "in1", "in2").rows(in.tokens...)
			o.to("alarms", "gen0", "gen1").rows(in.tokens...)
		case "cut":
			copied(o).rows(in.tokens[1:]...).acked(in.tokens[0])
		case "turned":
			copied(o).rows(in.tokens[2], in.tokens[1], in.tokens[0])
		}
		message = aligned(o.message(), o.envelope.GeneratedArrowIpcBatch)
		g.emit(message)
		return 0
	}}
	input, copies, alarms := &catcher{}, &catcher{}, &catcher{}
	run(t, 1, watch+logs, s, func(b *bench) {
		sub := b.Relays["readings"].Attach(input, true)
		defer func() {
			for _, c := range []*catcher{input, copies, alarms} {
				c.letGo()
			}
			sub.Leave(errEnd)
		}()
		publish := func(first string) *nodetest.Fate {
			f := b.Publish("readings", bedA, nil, first+"|1|1", "y|2|2", "z|3|3")
			b.pass(time.Millisecond)
			sub.Started(input.seq)
			return f
		}
		publish("all")
		in, out, other := input.last().Record, copies.last().Record, alarms.last().Record
		if !inside(out.Column(1), valuesOf(in.Column(1))) || !inside(out.Column(2), valuesOf(in.Column(2))) {
			b.T.Error("identity was copied")
		}
		if !inside(out.Column(0), message) || !inside(other.Column(0), message) || !inside(other.Column(1), message) || &valuesOf(out.Column(0))[0] != &valuesOf(other.Column(0))[0] {
			b.T.Error("a generated column was copied")
		}
		publish("cut")
		in, out = input.last().Record, copies.last().Record
		if !inside(out.Column(0), valuesOf(in.Column(0))) || !inside(out.Column(1), valuesOf(in.Column(1))) {
			b.T.Error("a stretch was copied")
		}
		publish("turned")
		in, out = input.last().Record, copies.last().Record
		if inside(out.Column(1), valuesOf(in.Column(1))) || out.Column(0).ValueStr(2) != "turned" {
			b.T.Error("another order shares memory")
		}
	}, func(c *wasmproc.Config, b *bench) {
		c.Targets = []wasmproc.Target{{Relay: copies}, {Relay: alarms}}
	})
}

// A batch beyond what a guest buffer takes is split; a row beyond it is refused before any call, with sizes and limit.
func TestLargeInputs(t *testing.T) {
	// req: W-044 half: what goes in; what comes out is the engine's
	// req: A08
	var mu sync.Mutex
	var sizes, counts []int
	s := script{batch: func(g *guest, in *given) int32 {
		mu.Lock()
		sizes, counts = append(sizes, in.size), append(counts, len(in.tokens))
		mu.Unlock()
		if in.text(0, 0) == "grow" {
			g.memory = 2 << 20
			panic(lost{fault.New(fault.WasmMemory, "test", ident.Ref{}, "wasm guest exceeded MAX MEMORY 2097152: it has 17 pages of 64 KiB and asked for 34", nil)})
		}
		return through(g, in)
	}}
	text := func(n int) string { return strings.Repeat("x", n) }
	run(t, 1, watch+logs, s, func(b *bench) {
		copies := b.Reader("copies")
		var rows, want []string
		for i := range 40 {
			row := fmt.Sprintf("%d%s|1|%d", i, text(60000), i)
			rows, want = append(rows, row), append(want, row)
		}
		f := b.Publish("readings", bedA, nil, rows...)
		b.pass(time.Second)
		wantFate(b.T, f, true)
		if got := copies.Rows(); strings.Join(got, "\n") != strings.Join(want, "\n") {
			b.T.Fatalf("%d rows came out", len(got))
		}
		if len(sizes) != 8 || b.branchOf(0).Callbacks != 8 {
			b.T.Fatalf("parts of %v rows, %v bytes", counts, sizes)
		}
		for _, n := range sizes {
			if n > 512<<10 {
				b.T.Fatalf("a message of %d bytes", n)
			}
		}
		b.wantEnd(b.say(text(1<<20)), true) // one row, below MAX MEMORY
		last := sizes[len(sizes)-1]
		b.wantEnd(b.say("small", text(3<<20), "small"), true, 1)
		b.wantErrors(marker + "batch processing failed (branch ..., export 'nervix_process_batch'): an input message of ... bytes for 1 row: guest buffer size ... exceeds configured limit 2097152, which is MAX MEMORY")
		b.wantEnd(b.say("grow"), true, 0)
		if e := b.errorsOf(); !like(e[1], marker+"batch processing failed (branch ...): an input message of ... bytes for 1 rows: wasm guest exceeded MAX MEMORY 2097152: it has 17 pages of 64 KiB and asked for 34") {
			b.T.Fatal(e[1])
		}
		if last < 1<<20 {
			b.T.Fatalf("%d bytes", last)
		}
	})
	run(t, 1, watch+quiet, s, func(b *bench) { // IGNORE accepts the row and is silent
		b.Reader("copies")
		b.wantEnd(b.say(text(3<<20)), true)
		b.wantErrors()
		if n := b.branchOf(0).Callbacks; n != 0 {
			b.T.Fatalf("%d callbacks", n)
		}
	})
}
