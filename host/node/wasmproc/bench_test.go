// SPDX-License-Identifier: Apache-2.0

package wasmproc_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/lineage"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/node/nodetest"
	"github.com/nervix-go/nervix/host/node/runtime"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// rote is a guest that answers each batch with one message made before, in which it only writes the tokens: what is measured is the host.
type rote struct {
	template []byte
	places   []int // of the tokens, in the order of rows
	each     int   // places of a row
	buffer   []byte
	emit     []byte
}

func newRote(rows int, build func(tokens []uint64) []byte) *rote {
	const mark = 0x5eed_0000_0000_0000
	tokens := make([]uint64, rows)
	for i := range tokens {
		tokens[i] = mark + uint64(i)
	}
	g := &rote{template: build(tokens)}
	var word [8]byte
	for _, t := range tokens {
		binary.LittleEndian.PutUint64(word[:], t)
		for at := 0; ; {
			i := bytes.Index(g.template[at:], word[:])
			if i < 0 {
				break
			}
			g.places = append(g.places, at+i)
			at += i + 8
		}
	}
	g.each = len(g.places) / rows
	return g
}

// answer writes the tokens from first on.
func (g *rote) answer(first uint64) []byte {
	out := bytes.Clone(g.template) // the copy out of guest memory
	for i, at := range g.places {
		binary.LittleEndian.PutUint64(out[at:], first+uint64(i/g.each))
	}
	return out
}

func (g *rote) Acquire(context.Context, wasmproc.Pin) (wasmproc.Module, error) { return g, nil }
func (g *rote) Release()                                                       {}
func (g *rote) Instantiate(wasmproc.Limits, vtime.Logical) (wasmproc.Guest, error) {
	return g, nil
}
func (g *rote) Begin(wasmproc.Op, vtime.Logical) {}

func (g *rote) Send(m protocol.Message) (wasmproc.Answer, error) {
	if len(g.buffer) < m.Size() {
		g.buffer = make([]byte, m.Size())
	}
	if err := m.WriteTo(g.buffer); err != nil {
		return wasmproc.Answer{}, err
	}
	if _, init := m.(protocol.Bytes); init {
		return wasmproc.Answer{}, nil
	}
	// The first token stands behind the fixed part of an input message, 108 bytes, and an offset for each row.
	rows := len(g.places) / g.each
	first := binary.LittleEndian.Uint64(g.buffer[(108+4*rows+7)&^7+8:])
	return wasmproc.Answer{Output: g.answer(first)}, nil
}
func (g *rote) OnTimeout(int64) (wasmproc.Answer, error) { return wasmproc.Answer{}, nil }
func (g *rote) Flush() (wasmproc.Answer, error)          { return wasmproc.Answer{}, nil }
func (g *rote) ReadEmit() (wasmproc.Answer, error)       { return wasmproc.Answer{}, nil }
func (g *rote) Dump() (wasmproc.Answer, error)           { return wasmproc.Answer{}, nil }
func (g *rote) Close()                                   {}

// feed offers one batch again and again from inside of the lane, so that no goroutine waits for another.
type feed struct {
	input *runtime.Input
	batch *batch.Batch
	left  int
	done  chan struct{}
}

func (f *feed) Started(seq uint64) {
	if f.left--; f.left < 0 {
		close(f.done)
		return
	}
	f.batch.Record.Retain()
	f.input.Offer(f.batch, seq+1)
}
func (f *feed) Resume()     {}
func (f *feed) Leave(error) {}

// sink settles at once.
type sink struct{}

func (sink) Publish(p *batch.Publication) bool {
	p.Batch.Settle()
	return true
}

// free is a block that nobody looks at.
type free struct{}

func (free) Hold(int)                    {}
func (free) Release()                    {}
func (free) Fail(lineage.Members, error) {}
func (free) Touch(int64)                 {}

func benchmark(b *testing.B, rows int, g *rote) {
	text := `CREATE WASM PROCESSOR watch FROM readings` + strings.Replace(module, "2MiB", "64MiB", 1) + toBoth + logs
	w := nodetest.New(b, base+text, 1)
	defer w.Close()
	plan := w.Graph.WASMs[0]
	p, err := wasmproc.New(wasmproc.Config{
		Plan: plan, Targets: []wasmproc.Target{{Relay: sink{}}, {Relay: sink{}}}, Modules: g, Checkpoints: wasmproc.NewMemory(), Created: 1, Clock: w.Clock,
		Now: w.Clock.Now, Lanes: w.Exec, Benches: w.Benches, Alloc: w.Heap, Log: w.Log, Random: func(p []byte) { copy(p, "\x01\x02\x03\x04\x05\x06\x07\x08") },
	})
	if err != nil {
		b.Fatal(err)
	}
	if err := p.Start(context.Background()); err != nil {
		b.Fatal(err)
	}
	lines := make([]string, rows)
	for i := range lines {
		lines[i] = fmt.Sprintf("bed%d|1.5|%d", i%10, i)
	}
	record := w.Record(plan.InputSchema.Arrow(), lines)
	marks := make([]int64, rows)
	keys := w.Record(plan.Branch.Schema.Arrow(), []string{"a"})
	form := batch.NewKeyForm(plan.Branch.Ref.Name, plan.Branch.Schema)
	key := form.Key(string(form.AppendText(nil, keys.Columns(), 0)), keys.Columns(), 0)
	f := &feed{input: p.Node().Input(0), batch: batch.New(record, key, lineage.Of(free{}, rows), marks, marks), left: 10, done: make(chan struct{})}
	f.input.Connect(f)
	go_ := func(n int) {
		f.left, f.done = n, make(chan struct{})
		record.Retain()
		f.input.Offer(f.batch, 1)
		<-f.done
	}
	go_(10)
	before := p.Observe().Rows.Given
	b.ReportAllocs()
	b.ResetTimer()
	go_(b.N)
	b.StopTimer()
	if o := p.Observe(); o.Rows.Given-before != uint64((b.N+1)*rows) || o.ErrorsTotal != 0 {
		b.Fatalf("%+v, %d errors: %v", o.Rows, o.ErrorsTotal, o.Errors[:min(1, len(o.Errors))])
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
	p.Node().Close(errEnd)
	p.Node().Abandon(errEnd)
	if err := p.End(context.Background(), errEnd); err != nil {
		b.Fatal(err)
	}
	record.Release()
	keys.Release()
}

// BenchmarkOperation is the host's cost of an input callback, with its checkpoint, over a guest that does nothing: it drops the row, or passes rows by
// reference. The answer's copy and its tokens are in it; BenchmarkRote tells what they cost.
func BenchmarkOperation(b *testing.B) {
	b.Run("drop/1", func(b *testing.B) { benchmark(b, 1, dropping(1)) })
	for _, rows := range []int{1, 64, 1024, 8192} {
		b.Run(fmt.Sprintf("pass/%d", rows), func(b *testing.B) { benchmark(b, rows, passing(rows)) })
	}
}

// BenchmarkRote is the part of BenchmarkOperation that stands for the guest.
func BenchmarkRote(b *testing.B) {
	for _, rows := range []int{1, 64, 1024, 8192} {
		b.Run(fmt.Sprint(rows), func(b *testing.B) {
			g := passing(rows)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				g.emit = g.answer(uint64(i))
			}
		})
	}
}

func dropping(rows int) *rote {
	return newRote(rows, func(tokens []uint64) []byte {
		return envelope().to("alarms", "none", "none").acked(tokens...).message()
	})
}

func passing(rows int) *rote {
	return newRote(rows, func(tokens []uint64) []byte { return copied(envelope()).rows(tokens...).message() })
}
