// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/wasm/guest/go/internal/flat"
)

// fakeHost is the environment of an instance under test.
type fakeHost struct {
	now     int64
	delays  []int64
	resets  int
	reason  string
	latched int // how often
}

func (h *fakeHost) Now() int64 { return h.now }

func (h *fakeHost) After(d int64) int64 {
	h.delays = append(h.delays, d)
	return int64(len(h.delays))
}

func (h *fakeHost) RequestReset() int32 {
	h.resets++
	return 0
}

func (h *fakeHost) Latch(reason []byte) { h.reason, h.latched = string(reason), h.latched+1 }
func (h *fakeHost) Latched() bool       { return h.reason != "" }
func (h *fakeHost) Trap()               { panic(trapSignal{}) }

type trapSignal struct{}

func (trapSignal) Trapped() {}

// bench is an instance with what the host knows about it.
type bench struct {
	*instance
	t    testing.TB
	fake *fakeHost
	desc *Init
	next uint64 // token
}

const firstToken = 1 << 40

func began(t testing.TB, p Processor, desc *Init) *bench {
	t.Helper()
	h := &fakeHost{now: 1000}
	b := &bench{instance: newInstance(p, h), t: t, fake: h, desc: desc, next: firstToken}
	if code := b.deliver(b.Init, encodeInit(desc)); code != 0 {
		t.Fatalf("init answers %d: %s", code, h.reason)
	}
	return b
}

// deliver does what a host does with a message.
func (b *bench) deliver(call func(uintptr, int32) int32, message []byte) int32 {
	b.t.Helper()
	at, code := b.Alloc(int32(len(message)))
	if code < 0 {
		b.t.Fatalf("alloc answers %d", code)
	}
	copy(b.buffer()[:len(message)], message)
	return call(at, int32(len(message)))
}

// batch delivers rows, each with a token of its own.
func (b *bench) batch(rows ...[]any) int32 {
	b.t.Helper()
	return b.deliver(b.ProcessBatch, b.encode(rows))
}

func (b *bench) encode(rows [][]any) []byte {
	entries := make([]Entry, len(rows))
	for i := range entries {
		entries[i] = Entry{[]uint64{b.next}, b.next, true}
		b.next++
	}
	return encodeInput(b.desc.Input, rows, entries)
}

// ok fails the test if a call was refused.
func (b *bench) ok(code int32) {
	b.t.Helper()
	if code != 0 || b.fake.reason != "" {
		b.t.Fatalf("the call answers %d: %s", code, b.fake.reason)
	}
}

// refuses fails the test unless a call was refused with a code and a reason, and clears the channel as a host does.
func (b *bench) refuses(got int32, code Code, reason string) {
	b.t.Helper()
	if got != int32(code) || b.fake.reason != reason {
		b.t.Fatalf("the call answers %d with the reason `%s`, not %d with `%s`", got, b.fake.reason, code, reason)
	}
	b.fake.reason = ""
}

// said reads and renders all that waits.
func (b *bench) said() string {
	b.t.Helper()
	text := ""
	for {
		n := b.ReadEmit()
		if n == 0 {
			return text
		}
		text += decodeOutput(b.t, b.desc, b.buffer()[:n])
	}
}

func (b *bench) state() []byte {
	b.t.Helper()
	n := b.DumpState()
	if n < 0 {
		b.t.Fatalf("dump answers %d: %s", n, b.fake.reason)
	}
	return append([]byte(nil), b.buffer()[:n]...)
}

// schema reads the spelling of Schema.String.
func schema(name, fields string) *Schema {
	s := &Schema{Name: name}
	for _, f := range splitTop(fields) {
		parts := strings.SplitN(f, " ", 2)
		spelled, optional := strings.CutSuffix(parts[1], " OPTIONAL")
		s.Fields = append(s.Fields, Field{parts[0], parseType(spelled), optional})
	}
	return s
}

func splitTop(s string) []string {
	var all []string
	depth, from := 0, 0
	for i, c := range s {
		switch {
		case c == '<':
			depth++
		case c == '>':
			depth--
		case c == ',' && depth == 0:
			all, from = append(all, strings.TrimSpace(s[from:i])), i+1
		}
	}
	return append(all, strings.TrimSpace(s[from:]))
}

func parseType(s string) *Type {
	if inner, ok := strings.CutPrefix(s, "VEC<"); ok {
		return &Type{Kind: Vec, Element: parseType(strings.TrimSuffix(inner, ">"))}
	}
	if inner, ok := strings.CutPrefix(s, "ARRAY<"); ok {
		parts := splitTop(strings.TrimSuffix(inner, ">"))
		t := parseType(parts[0])
		for i := len(parts) - 1; i > 0; i-- {
			var n uint32
			fmt.Sscan(parts[i], &n)
			t = &Type{Array, n, t}
		}
		return t
	}
	for k, word := range kindWords {
		if word == s {
			return &Type{Kind: Kind(k)}
		}
	}
	panic("no type " + s)
}

func encodeInit(i *Init) []byte {
	w := &flat.Writer{}
	w.Zeros(8)
	w.B = append(w.B, identifier...)
	w.Add16(8, 12, 8, 4, 14, 24, 4, 8, 12, 16, 20, 8, 12, 4, 8, 10, 16, 4, 8, 12, 10, 16, 12, 4, 8, 6, 8, 4) // Message, BranchInit, Schema, Field, Type, scalar
	w.Pad(4)
	const vtInit, vtSchema, vtField, vtType, vtScalar = 20, 34, 42, 52, 62
	message := w.Table(12, 12)
	w.Put32(4, message-4)
	w.B[message+8] = byte(initPayload)
	w.Point(message + 4)
	t := w.Table(vtInit, 24)
	if !i.Branched {
		w.B[vtInit+8], w.B[vtInit+9] = 0, 0
	}
	text := func(at uint32, s string) {
		w.Point(at)
		w.Text(s)
	}
	text(t+4, i.DomainName)
	text(t+8, i.DomainType)
	if i.Branched {
		text(t+12, i.BranchKey)
	}
	var typ func(uint32, *Type)
	typ = func(at uint32, of *Type) {
		w.Point(at)
		if of.Element == nil {
			w.B[w.Table(vtScalar, 8)+4] = byte(of.Kind)
			return
		}
		table := w.Table(vtType, 16)
		w.B[table+12] = byte(of.Kind)
		w.Put32(table+8, of.Length)
		typ(table+4, of.Element)
	}
	encode := func(at uint32, s *Schema) {
		w.Point(at)
		table := w.Table(vtSchema, 12)
		text(table+4, s.Name)
		w.Point(table + 8)
		offset := w.Offsets(len(s.Fields))
		for _, f := range s.Fields {
			w.Point(offset)
			one := w.Table(vtField, 16)
			if f.Optional {
				w.B[one+12] = 1
			}
			text(one+4, f.Name)
			typ(one+8, f.Type)
			offset += 4
		}
	}
	encode(t+16, i.Input)
	w.Point(t + 20)
	offset := w.Offsets(len(i.Outputs))
	for _, s := range i.Outputs {
		encode(offset, s)
		offset += 4
	}
	endMessage(w)
	return w.B
}

// fill puts a plain value into a column.
func fill(g *Generated, v any) {
	switch v := v.(type) {
	case nil:
		g.Null()
	case []any:
		list := g.List()
		for _, one := range v {
			fill(list, one)
		}
	case uint8:
		g.Uint8(v)
	case int8:
		g.Int8(v)
	case uint16:
		g.Uint16(v)
	case int16:
		g.Int16(v)
	case uint32:
		g.Uint32(v)
	case int32:
		g.Int32(v)
	case uint64:
		g.Uint64(v)
	case int64:
		g.Int64(v)
	case int:
		g.Int64(int64(v))
	case float32:
		g.Float32(v)
	case float64:
		g.Float64(v)
	case bool:
		g.Bool(v)
	case string:
		g.String(v)
	case []byte:
		g.Bytes(v)
	case Time:
		g.Time(v)
	default:
		panic(fmt.Sprintf("no column for %T", v))
	}
}

// read is the inverse of fill.
func read(c *Column, row int) any {
	if c.IsNull(row) {
		return nil
	}
	switch c.Type().Kind {
	case U8:
		return c.Uint8(row)
	case I8:
		return c.Int8(row)
	case U16:
		return c.Uint16(row)
	case I16:
		return c.Int16(row)
	case U32:
		return c.Uint32(row)
	case I32:
		return c.Int32(row)
	case U64:
		return c.Uint64(row)
	case I64:
		return c.Int64(row)
	case F32:
		return c.Float32(row)
	case F64:
		return c.Float64(row)
	case Bool:
		return c.Bool(row)
	case String:
		return c.String(row)
	case Bytes:
		return append([]byte{}, c.Bytes(row)...)
	case Datetime:
		return c.Time(row)
	}
	elements, first, end := c.List(row)
	all := []any{}
	for i := first; i < end; i++ {
		all = append(all, read(elements, i))
	}
	return all
}

// encodeInput writes what a host would: the stream of a schema whose fields have names, and a sidecar.
func encodeInput(s *Schema, rows [][]any, entries []Entry) []byte {
	o := &Output{init: &Init{Input: s, Outputs: []*Schema{s}}}
	route := o.Route(s)
	for i := range s.Fields {
		g := o.GenerateAt(s, i)
		for _, row := range rows {
			fill(g, row[i])
		}
		route.FromGenerated(g)
	}
	for _, e := range entries {
		route.Carry(e)
	}
	if _, err := o.judge(); err != nil {
		panic(err)
	}
	w := &flat.Writer{}
	t := beginMessage(w, inputEnvelope)
	w.Point(t + 8)
	sidecar := w.Table(vtSidecar, 20)
	for member := uint32(8); member < 20; member += 4 {
		w.Point(sidecar + member)
		w.Offsets(0)
	}
	route.writeRows(w)
	w.PointAt(sidecar+4, route.rowsAt)
	w.PadTo(12, 16)
	w.Point(t + 4)
	length := w.Add32(0)
	e := &encoder{}
	e.writeSchema(w, o)
	e.writeBatch(w, o, uint32(len(rows)))
	w.Add32(continuation)
	w.Add32(0)
	w.Put32(length, w.Len()-length-4)
	endMessage(w)
	return w.B
}

// decodeOutput renders an envelope: every member, and nothing of its layout.
func decodeOutput(t testing.TB, desc *Init, message []byte) string {
	t.Helper()
	r, envelope := open(message, outputEnvelope, 2)
	stream, routes := r.Bytes(r.Vector(&envelope, 0, 1)), r.Vector(&envelope, 1, 4)
	var text strings.Builder
	pool := &Schema{}
	rows := 0
	for k := uint32(0); k < routes.Count; k++ {
		route := r.Element(routes, k, 3)
		name := string(r.Text(&route, 0))
		fmt.Fprintf(&text, "%s:", name)
		columns := r.Vector(&route, 1, 4)
		for c := uint32(0); c < columns.Count; c++ {
			ref := r.Element(columns, c, 2)
			from, index := source(r.U8(&ref, 0)), r.U32(&ref, 1)
			fmt.Fprintf(&text, " %s%d", []string{"in", "gen", "none"}[from], index)
			for from == fromGenerated && int(index) >= len(pool.Fields) {
				pool.Fields = append(pool.Fields, Field{})
			}
			if from == fromGenerated {
				for _, s := range desc.Outputs {
					if s.Name == name {
						pool.Fields[index] = s.Fields[c]
					}
				}
			}
		}
		sidecar := r.Child(&route, 2, 4)
		var b Batch
		b.readEntries(&r, &sidecar)
		readSets(&r, &sidecar)
		b.message = message
		for i := range b.Rows() {
			text.WriteString(" " + entryText(b.Entry(i)))
		}
		rows = max(rows, b.Rows())
		for slot, word := range []string{1: "acked", 2: "nacked", 3: "errors"} {
			if word == "" {
				continue
			}
			sets := r.Vector(&sidecar, uint32(slot), 4)
			for i := uint32(0); i < sets.Count; i++ {
				set := r.Element(sets, i, 2)
				tokens := r.Vector(&set, 0, 8)
				fmt.Fprintf(&text, " %s%v", word, plainTokens(view[uint64](r.B[tokens.At:], tokens.Count)))
				if slot > 1 {
					fmt.Fprintf(&text, "%q", r.Text(&set, 1))
				}
			}
		}
		text.WriteString("\n")
	}
	if !r.Closed() {
		t.Fatal("the envelope is damaged")
	}
	if len(stream) > 0 {
		b := Batch{rows: rows}
		in := inputReader{schema: pool}
		if !in.read(stream, &b) {
			t.Fatal("the generated batch is damaged, or does not fit the fields it is for")
		}
		for i := range b.Columns() {
			fmt.Fprintf(&text, "gen%d %s:", i, pool.Fields[i].spelling())
			for row := range rows {
				fmt.Fprintf(&text, " %v", read(b.Column(i), row))
			}
			text.WriteString("\n")
		}
	}
	return text.String()
}

func plainTokens(tokens []uint64) []uint64 {
	all := make([]uint64, len(tokens))
	for i, t := range tokens {
		all[i] = t - firstToken
	}
	return all
}

func entryText(e Entry) string {
	if !e.hasSource {
		return fmt.Sprint(plainTokens(e.tokens))
	}
	return fmt.Sprintf("%v<%d", plainTokens(e.tokens), e.source-firstToken)
}
