// SPDX-License-Identifier: Apache-2.0

package wasmproc_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/wasm/protocol"
	"github.com/nervix-go/nervix/wasm/protocol/gen/nervix_wasm"
)

// script is what a fake guest does. A nil function answers 0. Functions run where guest calls run: outside of the lane.
type script struct {
	instantiate func(g *guest) error
	init        func(g *guest) int32
	load        func(g *guest, state []byte) int32
	batch       func(g *guest, in *given) int32
	timeout     func(g *guest, handle int64) int32
	flush       func(g *guest) int32
	dump        func(g *guest) ([]byte, int32)
}

// given is an input batch as a guest sees it.
type given struct {
	tokens []uint64
	record arrow.RecordBatch // on the Go heap; the guest may keep it
	size   int
}

func (in *given) text(column, row int) string { return in.record.Column(column).ValueStr(row) }

// fakes implements wasmproc.Modules.
type fakes struct {
	mu       sync.Mutex
	script   script
	refuse   error
	acquired int
	released int
	pins     []wasmproc.Pin
	guests   []*guest
	live     int
	trace    []string
}

func (f *fakes) Acquire(_ context.Context, pin wasmproc.Pin) (wasmproc.Module, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pins = append(f.pins, pin)
	if f.refuse != nil {
		return nil, f.refuse
	}
	f.acquired++
	return f, nil
}

func (f *fakes) Release() {
	f.mu.Lock()
	f.released++
	f.mu.Unlock()
}

// content is what the fakes are told to be made of.
const content = "0123456789abcdef0123456789abcdeffedcba9876543210fedcba9876543210"

// Identity implements wasmproc.Identified.
func (f *fakes) Identity() string { return content }

func (f *fakes) Instantiate(limits wasmproc.Limits, now vtime.Logical) (wasmproc.Guest, error) {
	g := &guest{f: f, next: limits.FirstHandle, limits: limits, now: now}
	f.mu.Lock()
	f.guests = append(f.guests, g)
	g.number = len(f.guests)
	f.live++
	f.mu.Unlock()
	g.note("instantiate")
	if f.script.instantiate != nil {
		if err := f.script.instantiate(g); err != nil {
			g.Close()
			return nil, err
		}
	}
	return g, nil
}

// all are the guests made so far.
func (f *fakes) all() []*guest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]*guest(nil), f.guests...)
}

// calls is the trace of guest calls, `number:call`.
func (f *fakes) calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.trace...)
}

func (f *fakes) left() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.live
}

// guest implements wasmproc.Guest as the adapter of the engine does.
type guest struct {
	f      *fakes
	number int
	limits wasmproc.Limits
	init   *protocol.Init
	op     wasmproc.Op
	now    vtime.Logical

	emits   [][]byte
	why     string // on the error channel
	reset   bool
	asked   []wasmproc.Timeout
	next    int64
	gone    bool
	closed  bool
	busy    bool
	memory  uint64
	counter int
	kept    []keptRow
}

// keptRow is a row that a guest buffers.
type keptRow struct {
	token uint64
	text  string
}

func (g *guest) note(call string) {
	g.f.mu.Lock()
	g.f.trace = append(g.f.trace, fmt.Sprintf("%d:%s", g.number, call))
	g.f.mu.Unlock()
}

// key is the branch key of the guest, from its init payload.
func (g *guest) key() string { return string(g.init.BranchKey) }

// emit queues an output message.
func (g *guest) emit(message []byte) { g.emits = append(g.emits, message) }

// after asks for a timeout.
func (g *guest) after(delay int64) int64 {
	h := g.next
	g.next++
	g.asked = append(g.asked, wasmproc.Timeout{Handle: h, Delay: delay})
	return h
}

type trap string

// trap ends the call like a trap of the guest.
func (g *guest) trap(text string) { panic(trap(text)) }

type lost struct{ err error }

// die ends the call with another failure that takes the instance along.
func (g *guest) die(code fault.Code, text string) {
	panic(lost{fault.New(code, "test", ident.Ref{}, text, nil)})
}

var stages = map[wasmproc.Op]protocol.Stage{
	wasmproc.OpInit: protocol.StageInitialization, wasmproc.OpRestore: protocol.StageStateRestore, wasmproc.OpBatch: protocol.StageBatch,
	wasmproc.OpTimeout: protocol.StageTimeout, wasmproc.OpFlush: protocol.StageFlush, wasmproc.OpSave: protocol.StageSnapshot,
}

func (g *guest) Begin(op wasmproc.Op, now vtime.Logical) {
	g.op, g.now, g.reset, g.asked = op, now, false, nil
}

// call runs f as a guest call with all that the ABI wants around it.
func (g *guest) call(name string, f func() int32, judge func(int32) (protocol.Stage, error)) (a wasmproc.Answer, err error) {
	if g.busy || g.closed || g.gone {
		panic(fmt.Sprintf("guest %d: %s while busy %v, closed %v, gone %v", g.number, name, g.busy, g.closed, g.gone))
	}
	g.busy = true
	g.note(name)
	g.why = ""
	code, cause := g.protected(f)
	g.busy = false
	a = wasmproc.Answer{Reset: g.reset, Timeouts: g.asked, FuelUsed: 7, Memory: 65536 + g.memory, NextHandle: g.next}
	stage := stages[g.op]
	if cause == nil {
		var verdict protocol.Stage
		verdict, cause = judge(code)
		if verdict != "" {
			stage = verdict
		}
	} else {
		g.gone = true
	}
	if cause == nil && g.why != "" {
		cause = fault.New(fault.WasmResult, "test", ident.Ref{}, "wasm guest reported a global error", nil)
	}
	if cause != nil {
		return a, &wasmproc.Failure{Stage: stage, Export: name, Gone: g.gone, Reason: g.why, Cause: protocol.Because(cause, g.why)}
	}
	return a, nil
}

func (g *guest) protected(f func() int32) (code int32, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case trap:
			err = fault.New(fault.WasmTrap, "test", ident.Ref{}, "wasm guest trapped: "+string(r), nil)
		case lost:
			err = r.err
		default:
			panic(r)
		}
	}()
	return f(), nil
}

func status(name string) func(int32) (protocol.Stage, error) {
	return func(code int32) (protocol.Stage, error) { return "", protocol.JudgeStatus(name, code) }
}

func (g *guest) Send(m protocol.Message) (wasmproc.Answer, error) {
	buffer := make([]byte, m.Size())
	if err := m.WriteTo(buffer); err != nil {
		panic(err)
	}
	s := g.f.script
	switch g.op {
	case wasmproc.OpInit:
		var err error
		if g.init, err = protocol.DecodeInit(buffer); err != nil {
			panic(err)
		}
		return g.call(protocol.ExportInit, func() int32 {
			if s.init == nil {
				return 0
			}
			return s.init(g)
		}, status(protocol.ExportInit))
	case wasmproc.OpRestore:
		return g.call(protocol.ExportLoadState, func() int32 {
			if s.load == nil {
				return 0
			}
			return s.load(g, buffer)
		}, protocol.JudgeRestore)
	case wasmproc.OpBatch:
		in := readInput(buffer)
		a, err := g.call(protocol.ExportProcessBatch, func() int32 {
			if s.batch == nil {
				return 0
			}
			return s.batch(g, in)
		}, status(protocol.ExportProcessBatch))
		return g.first(a, err)
	default:
		panic(fmt.Sprintf("Send in operation %d", g.op))
	}
}

func (g *guest) first(a wasmproc.Answer, err error) (wasmproc.Answer, error) {
	if err != nil {
		return a, err
	}
	return g.ReadEmit()
}

func (g *guest) OnTimeout(handle int64) (wasmproc.Answer, error) {
	return g.first(g.call(protocol.ExportOnTimeout, func() int32 {
		if g.f.script.timeout == nil {
			return 0
		}
		return g.f.script.timeout(g, handle)
	}, status(protocol.ExportOnTimeout)))
}

func (g *guest) Flush() (wasmproc.Answer, error) {
	return g.first(g.call(protocol.ExportFlush, func() int32 {
		if g.f.script.flush == nil {
			return 0
		}
		return g.f.script.flush(g)
	}, status(protocol.ExportFlush)))
}

func (g *guest) ReadEmit() (wasmproc.Answer, error) {
	a := wasmproc.Answer{Reset: g.reset, Timeouts: g.asked, FuelUsed: 8, Memory: 65536 + g.memory, NextHandle: g.next}
	if len(g.emits) > 0 {
		a.Output = g.emits[0]
		g.emits = g.emits[1:]
	}
	return a, nil
}

func (g *guest) Dump() (wasmproc.Answer, error) {
	var state []byte
	a, err := g.call(protocol.ExportDumpState, func() int32 {
		if g.f.script.dump == nil {
			return 0
		}
		var code int32
		if state, code = g.f.script.dump(g); code != 0 {
			return code
		}
		return int32(len(state))
	}, func(code int32) (protocol.Stage, error) {
		_, err := protocol.JudgeLength(protocol.ExportDumpState, code)
		return "", err
	})
	if err == nil {
		a.Output = bytes.Clone(state)
	}
	return a, err
}

func (g *guest) Close() {
	if g.busy || g.closed {
		panic(fmt.Sprintf("guest %d is closed while busy %v, closed %v", g.number, g.busy, g.closed))
	}
	g.closed = true
	g.note("close")
	g.f.mu.Lock()
	g.f.live--
	g.f.mu.Unlock()
}

func readInput(message []byte) *given {
	in, err := protocol.DecodeInput(message)
	if err != nil {
		panic(err)
	}
	r, err := ipc.NewReader(bytes.NewReader(in.Arrow), ipc.WithAllocator(memory.NewGoAllocator()))
	if err != nil {
		panic(err)
	}
	if !r.Next() {
		panic("an input without a batch")
	}
	out := &given{record: r.RecordBatch(), size: len(message)}
	out.record.Retain()
	for i := range in.Acks.Rows() {
		row := in.Acks.Row(i)
		if row.Tokens.Len() != 1 || !row.HasSource || row.Tokens.At(0) != row.Source {
			panic("an input row has one token, which is its source token (W-086)")
		}
		out.tokens = append(out.tokens, row.Source)
	}
	return out
}

// output builds an output message.
type output struct {
	envelope nervix_wasm.OutputEnvelopeT
}

func envelope() *output {
	return &output{nervix_wasm.OutputEnvelopeT{GeneratedArrowIpcBatch: []byte{}, Outputs: []*nervix_wasm.RoutedOutputT{}}}
}

// generated sets the common batch: one column each of I64 or STRING values.
func (o *output) generated(columns ...any) *output {
	var fields []arrow.Field
	var arrays []arrow.Array
	rows := 0
	for _, c := range columns {
		switch c := c.(type) {
		case []int64:
			b := array.NewInt64Builder(memory.DefaultAllocator)
			b.AppendValues(c, nil)
			arrays, rows = append(arrays, b.NewArray()), len(c)
		case []string:
			b := array.NewStringBuilder(memory.DefaultAllocator)
			b.AppendValues(c, nil)
			arrays, rows = append(arrays, b.NewArray()), len(c)
		}
		fields = append(fields, arrow.Field{Type: arrays[len(arrays)-1].DataType()})
	}
	schema := arrow.NewSchema(fields, nil)
	var text bytes.Buffer
	w := ipc.NewWriter(&text, ipc.WithSchema(schema))
	if err := w.Write(array.NewRecordBatch(schema, arrays, int64(rows))); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	o.envelope.GeneratedArrowIpcBatch = text.Bytes()
	return o
}

// to adds an output. A column is `in0`, `gen0` or `none`.
func (o *output) to(relay string, columns ...string) *routed {
	x := &nervix_wasm.RoutedOutputT{OutputRelay: relay, Columns: []*nervix_wasm.OutputColumnRefT{}, Acks: &nervix_wasm.AckSidecarT{
		Rows: []*nervix_wasm.OutputRowT{}, Acked: []*nervix_wasm.AckTokenSetT{}, Nacked: []*nervix_wasm.NackSetT{}, MessageErrors: []*nervix_wasm.MessageErrorSetT{},
	}}
	for _, c := range columns {
		ref := &nervix_wasm.OutputColumnRefT{}
		switch {
		case c == "none":
			ref.Source = nervix_wasm.ColumnSourceUninitialized
		case c[:2] == "in":
			_, _ = fmt.Sscanf(c, "in%d", &ref.ColumnIndex)
		default:
			ref.Source = nervix_wasm.ColumnSourceGenerated
			_, _ = fmt.Sscanf(c, "gen%d", &ref.ColumnIndex)
		}
		x.Columns = append(x.Columns, ref)
	}
	o.envelope.Outputs = append(o.envelope.Outputs, x)
	return &routed{o, x}
}

type routed struct {
	o *output
	x *nervix_wasm.RoutedOutputT
}

// rows adds rows that stand for one input each.
func (r *routed) rows(tokens ...uint64) *routed {
	for _, t := range tokens {
		r.x.Acks.Rows = append(r.x.Acks.Rows, &nervix_wasm.OutputRowT{Tokens: []uint64{t}, SourceToken: &t})
	}
	return r
}

// row adds a row of several inputs; source 0 means none.
func (r *routed) row(source uint64, tokens ...uint64) *routed {
	row := &nervix_wasm.OutputRowT{Tokens: append([]uint64{}, tokens...)}
	if source != 0 {
		row.SourceToken = &source
	}
	r.x.Acks.Rows = append(r.x.Acks.Rows, row)
	return r
}

func (r *routed) acked(tokens ...uint64) *routed {
	r.x.Acks.Acked = append(r.x.Acks.Acked, &nervix_wasm.AckTokenSetT{Tokens: append([]uint64{}, tokens...)})
	return r
}

func (r *routed) nacked(reason string, tokens ...uint64) *routed {
	r.x.Acks.Nacked = append(r.x.Acks.Nacked, &nervix_wasm.NackSetT{Tokens: append([]uint64{}, tokens...), Reason: reason})
	return r
}

func (r *routed) failed(reason string, tokens ...uint64) *routed {
	r.x.Acks.MessageErrors = append(r.x.Acks.MessageErrors, &nervix_wasm.MessageErrorSetT{Tokens: append([]uint64{}, tokens...), Reason: reason})
	return r
}

func (r *routed) to(relay string, columns ...string) *routed { return r.o.to(relay, columns...) }

func (r *routed) message() []byte { return r.o.message() }

func (o *output) message() []byte {
	b := flatbuffers.NewBuilder(1024)
	m := &nervix_wasm.MessageT{Payload: &nervix_wasm.MessagePayloadT{Type: nervix_wasm.MessagePayloadOutputEnvelope, Value: &o.envelope}}
	b.FinishSizePrefixedWithFileIdentifier(m.Pack(b), []byte(protocol.Identifier))
	return bytes.Clone(b.FinishedBytes())
}

var _ testing.TB
