// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

// sketch is a processor made of functions.
type sketch struct {
	Base
	create  func(*Call, *Init) error
	batch   func(*Call, *Batch) error
	timeout func(*Call, Timeout) error
	flush   func(*Call) error
	save    func(*StateWriter) error
	restore func(*StateReader) error
}

func (s *sketch) Create(c *Call, i *Init) error {
	if s.create == nil {
		return nil
	}
	return s.create(c, i)
}

func (s *sketch) ProcessBatch(c *Call, b *Batch) error {
	if s.batch == nil {
		return nil
	}
	return s.batch(c, b)
}

func (s *sketch) OnTimeout(c *Call, t Timeout) error {
	if s.timeout == nil {
		return nil
	}
	return s.timeout(c, t)
}

func (s *sketch) Flush(c *Call) error {
	if s.flush == nil {
		return nil
	}
	return s.flush(c)
}

func (s *sketch) SaveState(w *StateWriter) error {
	if s.save == nil {
		return nil
	}
	return s.save(w)
}

func (s *sketch) Restore(r *StateReader) error {
	if s.restore == nil {
		return s.Base.Restore(r)
	}
	return s.restore(r)
}

func plainInit() *Init {
	return &Init{DomainName: "d", DomainType: "unpaced", Branched: true, BranchKey: `{"tenant":"alpha"}`,
		Input:   schema("incoming", "sensor STRING, value I64 OPTIONAL, at DATETIME"),
		Outputs: []*Schema{schema("out", "sensor STRING, value I64 OPTIONAL, at DATETIME"), schema("more", "number I64")}}
}

func TestAlloc(t *testing.T) {
	// req: W-303
	b := began(t, &sketch{}, plainInit())
	for _, size := range []int32{0, 1, 100, 65536, 65537, 10, 1 << 20, 3} {
		at, code := b.Alloc(size)
		if code != 0 || at == 0 || at != b.BufferPtr() || b.BufferCapacity() < size || b.BufferLen() != size || at%8 != 0 {
			t.Errorf("alloc(%d) answers %d, %d; the buffer has %d of %d bytes at %d", size, at, code, b.BufferLen(), b.BufferCapacity(), b.BufferPtr())
		}
	}
	for _, size := range []int32{-1, math.MinInt32, 64<<20 + 1} {
		if _, code := b.Alloc(size); code >= 0 {
			t.Errorf("alloc(%d) is granted", size)
		}
	}
}

func TestAllocSteady(t *testing.T) {
	// req: A16
	b := began(t, passing(), plainInit())
	message := b.encode([][]any{{"north", 1, Epoch}, {"south", nil, Epoch}})
	one := func() {
		b.ok(b.deliver(b.ProcessBatch, message))
		for b.ReadEmit() > 0 {
		}
	}
	one()
	at := b.BufferPtr()
	for range 100 {
		one()
	}
	if first, _ := b.Alloc(int32(len(message))); at == 0 || first != address(b.input) || len(b.spare) > 4 {
		t.Error("the buffer of the input is not used again")
	}
}

// passing hands every row on.
func passing() *sketch {
	return &sketch{batch: func(c *Call, b *Batch) error {
		out := c.Output()
		out.Route(c.Init().Outputs[0]).FromInput(0, 1, 2).CarryAll(b)
		return c.Emit(out)
	}}
}

func TestRanges(t *testing.T) {
	// req: W-045
	b := began(t, &sketch{}, plainInit())
	at, _ := b.Alloc(4096)
	capacity := uintptr(b.BufferCapacity())
	for _, call := range []func(uintptr, int32) int32{b.Init, b.ProcessBatch, b.LoadState} {
		for _, r := range []struct {
			at   uintptr
			size int32
		}{{at, -1}, {at, math.MinInt32}, {at, math.MaxInt32}, {at - 1, 16}, {at - 64, 64}, {at + 1, int32(capacity)}, {at + capacity, 1}, {at, int32(capacity) + 1},
			{0, 16}, {math.MaxUint, 16}, {math.MaxUint - 15, 32}} {
			if code := call(r.at, r.size); code != int32(BadRange) && code != int32(BadSize) || b.fake.reason != "" {
				t.Errorf("a range of %d bytes at %+d is answered %d `%s`", r.size, int64(r.at)-int64(at), code, b.fake.reason)
			}
		}
	}
}

func TestLentBytes(t *testing.T) {
	// req: W-305
	checked, kept := false, ""
	b := began(t, &sketch{batch: func(c *Call, batch *Batch) error {
		v := batch.Column(0).Bytes(0)
		in := c.instance.input
		if at := address(v); at < address(in) || at >= address(in)+uintptr(len(in)) {
			return Failure("the bytes do not lie in the input buffer")
		}
		if n := testing.AllocsPerRun(100, func() { v = batch.Column(0).Bytes(0); _ = string(v) == "north" }); n != 0 {
			return fmt.Errorf("%v allocations for lent bytes", n)
		}
		checked, kept = true, batch.Column(0).String(0)
		return nil
	}}, plainInit())
	b.ok(b.batch([]any{"north", 1, Epoch}))
	at, _ := b.Alloc(64)
	_ = at
	clear(b.input[:cap(b.input)])
	if !checked || kept != "north" {
		t.Errorf("a copy changed with the buffer: %q", kept)
	}
}

// doubled are rows of two tokens each.
func doubled(b *bench, rows ...[]any) []byte {
	entries := make([]Entry, len(rows))
	for i := range entries {
		entries[i] = Entry{[]uint64{b.next, b.next + 1}, b.next + 1, true}
		b.next += 2
	}
	return encodeInput(b.desc.Input, rows, entries)
}

func TestFilterKeepsEntriesWhole(t *testing.T) {
	// req: W-307
	b := began(t, &sketch{batch: func(c *Call, batch *Batch) error {
		out := c.Output()
		value := batch.Column(1)
		out.Route(c.Init().Outputs[0]).FromInput(0, 1, 2).Filter(batch, func(row int) bool { return !value.IsNull(row) })
		return c.Emit(out)
	}}, plainInit())
	b.ok(b.deliver(b.ProcessBatch, doubled(b, []any{"a", 1, Epoch}, []any{"b", nil, Epoch}, []any{"c", 2, Epoch})))
	want := "out: in0 in1 in2 [0 1]<1 [4 5]<5 acked[2 3]\n"
	if got := b.said(); got != want {
		t.Errorf("filter says\n%s instead of\n%s", got, want)
	}
}

func TestMapKeepsEntriesWhole(t *testing.T) {
	// req: W-307
	b := began(t, &sketch{batch: func(c *Call, batch *Batch) error {
		out := c.Output()
		number := out.Generate(c.Init().Outputs[1], "number")
		out.Route(c.Init().Outputs[1]).FromGenerated(number).Map(batch, func(row int) Verdict {
			switch batch.Column(0).String(row) {
			case "keep":
				number.Int64(int64(row))
				return Carried()
			case "drop":
				return Acked()
			case "fail":
				return Nacked("why not")
			}
			return Errored("what is it")
		})
		return c.Emit(out)
	}}, plainInit())
	b.ok(b.deliver(b.ProcessBatch, doubled(b, []any{"keep", 1, Epoch}, []any{"drop", nil, Epoch}, []any{"fail", 2, Epoch}, []any{"odd", 2, Epoch}, []any{"keep", 2, Epoch})))
	want := "more: gen0 [0 1]<1 [8 9]<9 acked[2 3] nacked[4 5]\"why not\" errors[6 7]\"what is it\"\ngen0 I64: 0 4\n"
	if got := b.said(); got != want {
		t.Errorf("map says\n%s instead of\n%s", got, want)
	}
}

func TestSharedGeneratedColumn(t *testing.T) {
	// req: W-245 half: a generated column is one column of the pool for all routes, unchanged inputs are named and not written again
	desc := plainInit()
	desc.Outputs = append(desc.Outputs, schema("again", "sensor STRING, number I64, other I64"))
	b := began(t, &sketch{batch: func(c *Call, batch *Batch) error {
		out, to := c.Output(), c.Init().Outputs
		number := out.Generate(to[1], "number")
		number.Int64s([]int64{7, 8})
		first := out.Route(to[1]).FromGenerated(number)
		first.CarryAll(batch)
		out.Route(to[2]).FromInput(0).FromGenerated(number, number).CarrySame(first)
		return c.Emit(out)
	}}, desc)
	b.ok(b.batch([]any{"secret text of the input", 1, Epoch}, []any{"b", 2, Epoch}))
	if strings.Contains(string(b.queue[0]), "secret") {
		t.Error("an unchanged input column is written again")
	}
	want := "more: gen0 [0]<0 [1]<1\nagain: in0 gen0 gen0 [0]<0 [1]<1\ngen0 I64: 7 8\n"
	if got := b.said(); got != want {
		t.Errorf("the output is\n%s instead of\n%s", got, want)
	}
}

func TestMistakes(t *testing.T) {
	// req: W-243
	for reason, make := range map[string]func(*Output, []*Schema, *Batch){
		"it has no route": func(*Output, []*Schema, *Batch) {},
		"a route has fewer columns than its relay has fields":     func(o *Output, to []*Schema, b *Batch) { o.Route(to[0]).FromInput(0, 1) },
		"a route has more columns than its relay has fields":      func(o *Output, to []*Schema, b *Batch) { o.Route(to[0]).FromInput(0, 1, 2, 2) },
		"a column has another type or nullability than its field": func(o *Output, to []*Schema, b *Batch) { o.Route(to[1]).FromInput(1) },
		"a route takes a column that the input does not have":     func(o *Output, to []*Schema, b *Batch) { o.Route(to[1]).FromInput(3) },
		"a generated column is not used by any route": func(o *Output, to []*Schema, b *Batch) {
			o.Generate(to[1], "number")
			o.Route(to[1]).FromNothing()
		},
		"a generated column has another number of rows than its route": func(o *Output, to []*Schema, b *Batch) {
			o.Route(to[1]).FromGenerated(o.Generate(to[1], "number")).CarryAll(b)
		},
		"generated columns have different numbers of rows": func(o *Output, to []*Schema, b *Batch) {
			x, y := o.Generate(to[1], "number"), o.Generate(to[1], "number")
			x.Int64(1)
			o.Route(to[1]).FromGenerated(x)
			o.Route(to[1]).FromGenerated(y)
		},
		"a value of another type is put into a generated column": func(o *Output, to []*Schema, b *Batch) {
			g := o.Generate(to[1], "number")
			g.String("x")
			o.Route(to[1]).FromGenerated(g)
		},
		"a null is put into a generated column that is not optional": func(o *Output, to []*Schema, b *Batch) {
			g := o.Generate(to[1], "number")
			g.Null()
			o.Route(to[1]).FromGenerated(g)
		},
		"a row without source stands beside columns of the input": func(o *Output, to []*Schema, b *Batch) {
			o.Route(to[0]).FromInput(0, 1, 2).Carry(Entry{tokens: []uint64{firstToken}})
		},
		"a route takes a generated column of another output": func(o *Output, to []*Schema, b *Batch) {
			o.Route(to[1]).FromGenerated((&Output{}).Generate(to[1], "number"))
		},
		"a route with the rows of another one is given rows of its own": func(o *Output, to []*Schema, b *Batch) {
			x := o.Route(to[1]).FromNothing()
			y := o.Route(to[1]).FromNothing()
			y.CarrySame(x)
			y.CarryAll(b)
		},
	} {
		b := began(t, &sketch{batch: func(c *Call, batch *Batch) error {
			out := c.Output()
			make(out, c.Init().Outputs, batch)
			return c.Emit(out)
		}}, plainInit())
		b.refuses(b.batch([]any{"a", 1, Epoch}), Rejected, "the guest emits an output that is wrong: "+reason)
		if got := b.said(); got != "" {
			t.Errorf("a wrong output is emitted: %s", got)
		}
	}
}

func TestMismatchedInit(t *testing.T) {
	// req: W-245 half: a guest refuses an init that it does not serve, and a second init: an instance is one branch
	want := "the input incoming has the fields (sensor STRING, value I64 OPTIONAL, at DATETIME), this guest needs (sensor STRING)"
	b := &bench{t: t, fake: &fakeHost{}}
	b.instance = newInstance(&sketch{create: func(_ *Call, i *Init) error { return i.RequireInput("sensor STRING") }}, b.fake)
	b.refuses(b.deliver(b.Init, encodeInit(plainInit())), Rejected, want)
	b.refuses(b.ProcessBatch(b.BufferPtr(), 0), NotReady, "")

	b = began(t, &sketch{}, plainInit())
	b.refuses(b.deliver(b.Init, encodeInit(plainInit())), Rejected, "the guest is initialized already")

	i := plainInit()
	for _, one := range []struct{ err, want string }{
		{text(i.RequireOutput("none", "")), "the processor has no output none, which this guest needs"},
		{text(i.RequireOutput("more", "number U64")), "the output more has the fields (number I64), this guest needs (number U64)"},
		{text(i.RequireOutput("more", "number I64")), ""},
		{text(i.RequireOutput("more", "")), ""},
		{text(i.Input.Require("value", "I64")), "field value of incoming is I64 OPTIONAL, this guest needs I64"},
		{text(i.Input.Require("value", "")), ""},
		{text(i.Input.Require("worth", "")), "incoming has no field worth, which this guest needs"},
	} {
		if one.err != one.want {
			t.Errorf("the reason is `%s`, not `%s`", one.err, one.want)
		}
	}
}

func text[T any](_ T, err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestFailuresLatch(t *testing.T) {
	// req: W-243
	var err error
	report := ""
	p := passing()
	pass := p.batch
	p.batch = func(c *Call, b *Batch) error {
		if e := pass(c, b); e != nil {
			return e
		}
		if report != "" {
			c.ReportGlobalError(report)
			c.ReportGlobalError("a second reason")
		}
		return err
	}
	b := began(t, p, plainInit())
	err = errors.New("a reason")
	code := b.batch([]any{"a", 1, Epoch})
	if b.fake.reason != "a reason" || code != int32(Rejected) {
		t.Errorf("the batch answers %d `%s`", code, b.fake.reason)
	}
	err = nil // the reason waits: nothing runs
	if code := b.batch([]any{"a", 1, Epoch}); code != int32(Rejected) || b.OnTimeout(1) != int32(Rejected) || b.Flush() != int32(Rejected) || b.fake.latched != 1 {
		t.Error("a callback runs while a reason waits")
	}
	b.refuses(code, Rejected, "a reason")
	report = "reported"
	b.refuses(b.batch([]any{"a", 1, Epoch}), 0, "reported")
	report, err = "", Code(-77) // a code alone does not latch
	b.refuses(b.batch([]any{"a", 1, Epoch}), -77, "")
	if said := b.said(); said != "" {
		t.Errorf("failed callbacks emit %s", said)
	}
	err = nil
	b.ok(b.batch([]any{"a", 1, Epoch}))
	if b.said() == "" {
		t.Error("a callback after failures emits nothing")
	}
}

func TestUnreadOutputIsDropped(t *testing.T) {
	b := began(t, passing(), plainInit())
	b.ok(b.batch([]any{"a", 1, Epoch}))
	b.ok(b.batch([]any{"b", 1, Epoch}))
	if got, want := b.said(), "out: in0 in1 in2 [1]<1\n"; got != want {
		t.Errorf("after two batches %s waits instead of %s", got, want)
	}
}

func TestPanicBecomesLastWords(t *testing.T) {
	// req: A01, W-243
	for want, what := range map[string]func(*Batch){
		"panic: runtime error: index out of range [1] with length 1": func(b *Batch) { _ = make([]int, b.Rows())[b.Rows()] },
		"panic: own text":                          func(*Batch) { panic("own text") },
		"panic: an error":                          func(*Batch) { panic(errors.New("an error")) },
		"panic: 7":                                 func(*Batch) { panic(7) },
		"panic: a value that is no text":           func(*Batch) { panic(struct{}{}) },
		"my words":                                 func(*Batch) { Panic("my words") },
		"row 1 of a column of 1 rows":              func(b *Batch) { b.Column(0).Bytes(1) },
		"row 9 of a batch of 1 rows":               func(b *Batch) { b.Entry(9) },
		"column 3 of a batch of 3":                 func(b *Batch) { b.Column(3) },
		"a column of STRING is read as one of I64": func(b *Batch) { b.Column(0).Int64(0) },
		"entry 0 of 0 held ones":                   func(b *Batch) { new(Held).Entry(0) },
		"":                                         func(*Batch) { Trap() },
	} {
		b := began(t, &sketch{batch: func(_ *Call, batch *Batch) error { what(batch); return nil }}, plainInit())
		func() {
			defer func() {
				if _, ok := recover().(trapSignal); !ok {
					t.Errorf("%s: the instance does not trap", want)
				}
			}()
			b.batch([]any{"a", 1, Epoch})
		}()
		if b.fake.reason != want {
			t.Errorf("last words are `%s`, not `%s`", b.fake.reason, want)
		}
	}
}

// The first guest of README.md is the file that is built.
func TestFirstGuest(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("first/main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(source), "package main\n")
	if !strings.Contains(string(page), "```go\npackage main\n"+code+"```\n") {
		t.Error("README.md does not show first/main.go as it is")
	}
}
