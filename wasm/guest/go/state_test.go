// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/nervix-go/nervix/wasm/guest/go/internal/flat"
)

func itoa(i int) string { return fmt.Sprint(i) }

func show(v any) string { return fmt.Sprint(v) }

// counting buffers rows and counts them.
type counting struct {
	Base
	seen    uint64
	held    Held
	timeout Timeout
}

func (p *counting) ProcessBatch(c *Call, b *Batch) error {
	p.timeout = c.After(Second)
	for i := range b.Rows() {
		p.held.Hold(b.Entry(i))
		p.seen++
	}
	if b.Rows() > 3 {
		return Failure("too many")
	}
	return nil
}

func (p *counting) Flush(c *Call) error {
	out := c.Output()
	r := out.Route(c.Init().Outputs[0]).FromInput(0, 1, 2)
	for i := range p.held.Len() {
		r.Carry(p.held.Entry(i))
	}
	p.held.Clear()
	return c.Emit(out)
}

func (p *counting) SaveState(w *StateWriter) error {
	w.Uint64(p.seen)
	return nil
}

func (p *counting) Restore(r *StateReader) error {
	p.seen = r.Uint64()
	return r.End()
}

func TestStateHoldsNothingTransient(t *testing.T) {
	// req: W-121, W-245 half: state holds no buffered rows, tokens, timeouts, output or latched errors
	b := began(t, &counting{}, plainInit())
	b.ok(b.batch([]any{"a", 1, Epoch}, []any{"b", 2, Epoch}))
	buffered := b.state()
	b.ok(b.Flush())
	unread := b.state()
	if got := b.said(); got != "out: in0 in1 in2 [0]<0 [1]<1\n" {
		t.Errorf("the flush after a save says %s", got)
	}
	released := b.state()
	b.fake.reason = "an error that waits"
	latched := b.state()
	for name, state := range map[string][]byte{"with output that waits": unread, "after it was read": released, "with a latched error": latched} {
		if !bytes.Equal(state, buffered) {
			t.Errorf("the state %s differs from that with buffered rows", name)
		}
	}
	next := &counting{}
	c := began(t, next, plainInit())
	c.ok(c.deliver(c.LoadState, buffered))
	if next.seen != 2 || next.held.Len() != 0 || next.timeout.Set() || c.said() != "" {
		t.Error("a successor begins with more than the count")
	}
}

func TestForeignStateIsRefused(t *testing.T) {
	// req: W-124, W-125, W-053
	state := began(t, &counting{seen: 5}, plainInit()).state()
	const other = "the snapshot is of another branch, or of other schemas"
	for name, one := range map[string]struct {
		change func(*Init)
		reason string
	}{
		"the same":           {func(*Init) {}, ""},
		"domain name":        {func(i *Init) { i.DomainName = "renamed" }, ""},
		"domain type":        {func(i *Init) { i.DomainType = "paced" }, other},
		"key":                {func(i *Init) { i.BranchKey = `{"tenant":"beta"}` }, other},
		"unbranched":         {func(i *Init) { i.Branched = false; i.BranchKey = "" }, other},
		"input name":         {func(i *Init) { i.Input.Name = "x" }, other},
		"input field":        {func(i *Init) { i.Input.Fields[0].Name = "x" }, other},
		"input optional":     {func(i *Init) { i.Input.Fields[1].Optional = false }, other},
		"input type":         {func(i *Init) { i.Input.Fields[1].Type = &Type{Kind: U64} }, other},
		"output field added": {func(i *Init) { i.Outputs[1].Fields = append(i.Outputs[1].Fields, i.Outputs[0].Fields[0]) }, other},
		"output gone":        {func(i *Init) { i.Outputs = i.Outputs[:1] }, other},
	} {
		desc := plainInit()
		one.change(desc)
		p := &counting{}
		b := began(t, p, desc)
		code := b.deliver(b.LoadState, state)
		if one.reason == "" {
			b.ok(code)
			if p.seen != 5 {
				t.Errorf("%s: %d was restored", name, p.seen)
			}
			continue
		}
		b.refuses(code, BadSnapshot, one.reason)
		if b.batch() != int32(NotReady) || b.DumpState() != int32(NotReady) {
			t.Errorf("%s: an instance that refused state goes on", name)
		}
	}
}

// wrap makes a snapshot with any state inside.
func wrap(desc *Init, state []byte) []byte {
	w := &flat.Writer{}
	if err := snapshot(w, encodeInit(desc), func(s *StateWriter) error { s.Raw(state); return nil }); err != nil {
		panic(err)
	}
	return w.B
}

func TestBadStateIsRefused(t *testing.T) {
	// req: W-245 half: state of a wrong form is refused, with -8 if the wrapping is right and -7 if not
	desc := plainInit()
	for _, one := range []struct {
		state  []byte
		code   Code
		reason string
	}{
		{wrap(desc, nil), BadState, "the state ends early, after 0 bytes"},
		{wrap(desc, make([]byte, 7)), BadState, "the state ends early, after 7 bytes"},
		{wrap(desc, make([]byte, 9)), BadState, "the state has 1 bytes more than this guest wrote"},
		{nil, BadSnapshot, "the saved bytes are no snapshot"},
		{wrap(desc, make([]byte, 8))[:20], BadSnapshot, "the saved bytes are no snapshot"},
		{append(wrap(desc, make([]byte, 8)), 0), BadSnapshot, "the saved bytes are no snapshot"},
		{encodeInit(desc), BadSnapshot, "the saved bytes are no snapshot"},
	} {
		b := began(t, &counting{}, desc)
		b.refuses(b.deliver(b.LoadState, one.state), one.code, one.reason)
	}
	b := began(t, &counting{}, desc)
	b.ok(b.batch([]any{"a", 1, Epoch}))
	b.refuses(b.deliver(b.LoadState, wrap(desc, make([]byte, 8))), NotReady, "")
}

func TestEmptyStateIsState(t *testing.T) {
	// req: W-310
	b := began(t, &sketch{}, plainInit())
	state := b.state()
	if len(state) == 0 {
		t.Fatal("a guest without state dumps nothing, so that its successor is not restored")
	}
	restored := false
	c := began(t, &sketch{restore: func(r *StateReader) error { restored = len(r.State()) == 0; return nil }}, plainInit())
	c.ok(c.deliver(c.LoadState, state))
	if !restored {
		t.Error("empty state is not handed to Restore")
	}
	d := began(t, &sketch{}, plainInit())
	d.ok(d.deliver(d.LoadState, state))
	e := began(t, &sketch{}, plainInit())
	e.refuses(e.deliver(e.LoadState, wrap(plainInit(), []byte("abc"))), BadState, "this guest saves no state and cannot take 3 bytes of it")
}

func TestFailingSave(t *testing.T) {
	// req: W-243
	var err error = Failure("it cannot be written")
	b := began(t, &sketch{save: func(*StateWriter) error { return err }}, plainInit())
	b.refuses(b.DumpState(), Rejected, "it cannot be written")
	err = Code(-50)
	b.refuses(b.DumpState(), -50, "")
	err = nil
	b.ok(b.deliver(b.LoadState, b.state()))
}

func TestStateNumbers(t *testing.T) {
	w := &StateWriter{}
	w.Uint8(200)
	w.Uint32(math.MaxUint32)
	w.Uint64(math.MaxUint64)
	w.Int64(math.MinInt64)
	w.Float64(-0.5)
	w.Time(Epoch.Add(-Second))
	w.String("text")
	w.Bytes([]byte{1, 2})
	r := &StateReader{state: w.out}
	if r.Uint8() != 200 || r.Uint32() != math.MaxUint32 || r.Uint64() != math.MaxUint64 || r.Int64() != math.MinInt64 || r.Float64() != -0.5 ||
		r.Time() != Epoch.Add(-Second) || r.String() != "text" || !bytes.Equal(r.Bytes(), []byte{1, 2}) || r.End() != nil {
		t.Error("state does not read as it was written")
	}
	if r.Uint64() != 0 || r.String() != "" || r.End() == nil {
		t.Error("there is something behind the end")
	}
	if r := (&StateReader{state: []byte{255, 255, 255, 255, 1}}); r.Bytes() != nil || r.End() == nil {
		t.Error("a length behind the end is taken")
	}
}

func TestCallsOfTheHost(t *testing.T) {
	var first Timeout
	b := began(t, &sketch{
		batch:   func(c *Call, _ *Batch) error { first = c.After(2 * Second); _ = c.After(-Second); return nil },
		timeout: func(c *Call, at Timeout) error { return expect(at == first && at.Set() && c.RequestReset()) },
	}, plainInit())
	b.ok(b.batch([]any{"a", 1, Epoch}))
	b.ok(b.OnTimeout(1))
	if len(b.fake.delays) != 2 || b.fake.delays[0] != 2e9 || b.fake.delays[1] != -1e9 || b.fake.resets != 1 || b.ResetState() >= 0 {
		t.Errorf("the host was asked for %v and %d resets", b.fake.delays, b.fake.resets)
	}
	if (Timeout{}).Set() {
		t.Error("no timeout counts as one")
	}
}

func expect(ok bool) error {
	if ok {
		return nil
	}
	return Failure("it is not as expected")
}
