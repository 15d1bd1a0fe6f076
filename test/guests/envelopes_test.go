// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"encoding/binary"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/nervix-go/nervix/wasm/protocol"
	"github.com/nervix-go/nervix/wasm/protocol/gen/nervix_wasm"
)

// emits is a row whose guest counts it and emits messages, whatever they are.
func emits(all ...answer) string {
	script := "p(i"
	for _, a := range all {
		script += a.script()
	}
	return script + ")"
}

// wrong is a branch whose second row is answered with messages that must be refused: nothing of the callback is dispatched, the guest lives on.
func wrong(name, code string, all ...answer) hostile {
	script := emits(all...)
	return hostile{name: name, rows: after(script), counts: fromLife, fails: fails(protocol.StageOutput, code), alone: script}
}

// place walks from the root table of a message: a step follows the member in that slot, element(i) the i-th element of a vector of tables.
func place(b []byte, steps ...int) int {
	follow := func(at int) int { return at + int(binary.LittleEndian.Uint32(b[at:])) }
	at := follow(4)
	for _, s := range steps {
		if s < 0 {
			at = follow(at + 4 + 4*(-1-s))
		} else {
			at = follow(at + int(binary.LittleEndian.Uint16(b[entry(b, at, s):])))
		}
	}
	return at
}

func element(i int) int { return -1 - i }

// entry is where the vtable of a table tells the place of a member.
func entry(b []byte, table, slot int) int {
	return table - int(int32(binary.LittleEndian.Uint32(b[table:]))) + 4 + 2*slot
}

// without takes a member out of a message: its table gets a layout of its own behind the end.
func (a answer) without(slot int, steps ...int) answer {
	b := slices.Clone(a.bytes)
	at := place(b, steps...)
	from := entry(b, at, -2)
	own := slices.Clone(b[from : from+int(binary.LittleEndian.Uint16(b[from:]))])
	binary.LittleEndian.PutUint16(own[4+2*slot:], 0)
	binary.LittleEndian.PutUint32(b[at:], uint32(at-len(b)))
	return prefixed(append(b, own...)[4:])
}

// changed is a message after some change to its bytes.
func (a answer) changed(change func(b []byte)) answer {
	b := slices.Clone(a.bytes)
	change(b)
	return answer{b}
}

func (a answer) cut(n int) answer { return answer{a.bytes[:n]} }

func (a answer) with(more ...byte) answer { return answer{append(slices.Clone(a.bytes), more...)} }

func prefixed(b []byte) answer {
	return answer{append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)}
}

func put32(b []byte, at int, v int) { binary.LittleEndian.PutUint32(b[at:], uint32(v)) }

// full is a good answer that has every member: the row goes to the relay, and nothing else.
func full() answer {
	s := refused(nacked(acked(sidecar(row(rowToken)), heldToken), "a reason", heldToken+1), "a reason", heldToken+2)
	return envelope{numbers(counter), outputs(to("out", plainColumns, s))}.pack()
}

// malformed has messages that are no output envelopes (W-112, W-113, W-115).
func malformed() []hostile {
	good, bad := full(), "wasm.message"
	n := len(good.bytes)
	const payload = 1
	output := []int{payload, 1, element(0)}
	acks := append(slices.Clone(output), 2)
	under := func(path []int, more ...int) []int { return append(slices.Clone(path), more...) }
	all := []hostile{
		wrong("message of one byte", bad, good.cut(1)),
		wrong("message of four bytes", bad, prefixed(nil)),
		wrong("message of eight bytes", bad, prefixed(good.bytes[4:8])),
		wrong("message of eleven bytes", bad, prefixed(good.bytes[4:11])),
		wrong("message of twelve bytes", bad, prefixed(good.bytes[4:12])),
		wrong("message one byte short", bad, good.cut(n-1)),
		wrong("message one byte long", bad, good.with(0)),
		wrong("size prefix one less", bad, good.changed(func(b []byte) { put32(b, 0, n-5) })),
		wrong("size prefix one more", bad, good.changed(func(b []byte) { put32(b, 0, n-3) })),
		wrong("size prefix of all", bad, good.changed(func(b []byte) { put32(b, 0, 0xffffffff) })),
		wrong("no size prefix", bad, answer{good.bytes[4:]}),
		wrong("identifier NVWX", bad, good.changed(func(b []byte) { copy(b[8:], "NVWX") })),
		wrong("CBOR", bad, prefixed([]byte("\xa1\x67outputs\x80 and more bytes"))),
		wrong("bytes behind the message", bad, prefixed(append(slices.Clone(good.bytes[4:]), "hidden!!"...))),
		wrong("root outside", bad, good.changed(func(b []byte) { put32(b, 4, n) })),
		wrong("vtable outside", bad, good.changed(func(b []byte) { put32(b, place(b), 0x7fffffff) })),
		wrong("generated batch outside", bad, good.changed(func(b []byte) { put32(b, place(b, payload, 0), 1<<31) })),
		wrong("outputs outside", bad, good.changed(func(b []byte) { put32(b, place(b, payload, 1), 1<<30) })),
		wrong("rows outside", bad, good.changed(func(b []byte) { put32(b, place(b, under(acks, 0)...), 1<<28) })),
		wrong("tokens outside", bad, good.changed(func(b []byte) { put32(b, place(b, under(acks, 0, element(0), 0)...), 1<<29) })),
		wrong("relay that is not text", bad, good.changed(func(b []byte) { b[place(b, under(output, 0)...)+4] = 0xff })),
		wrong("reason that is not text", bad, good.changed(func(b []byte) { b[place(b, under(acks, 2, element(0), 1)...)+4] = 0xc3 })),
		wrong("unknown variant", bad, good.changed(func(b []byte) { setByte(b, place(b), 0, 9) })),
		wrong("no variant", bad, good.changed(func(b []byte) { setByte(b, place(b), 0, 0) })),
		wrong("unknown source of a column", bad, good.changed(func(b []byte) { setByte(b, place(b, under(output, 1, element(2))...), 0, 3) })),
		wrong("uninitialized column with an index", bad, envelope{nil, outputs(to("out", columns{in(0), in(1), {Source: nervix_wasm.ColumnSourceUninitialized, ColumnIndex: 1}}, sidecar(row(rowToken))))}.pack()),
		wrong("an init payload as output", bad, message(nervix_wasm.MessagePayloadBranchInit, &nervix_wasm.BranchInitT{DomainName: "d", DomainType: "t",
			InputSchema: &nervix_wasm.ProcessorSchemaT{Name: "s", Fields: []*nervix_wasm.ProcessorFieldT{}}, OutputSchemas: []*nervix_wasm.ProcessorSchemaT{}})),
		wrong("an input envelope as output", bad, message(nervix_wasm.MessagePayloadInputEnvelope, &nervix_wasm.InputEnvelopeT{ArrowIpcBatch: numbers(counter), Acks: sidecar(row(rowToken))})),
		wrong("a snapshot as output", bad, message(nervix_wasm.MessagePayloadGuestSnapshot, &nervix_wasm.GuestSnapshotT{InitMetadata: []byte("x"), ApplicationState: []byte("y")})),
	}
	for _, table := range []struct {
		name    string
		members []string
		steps   []int
	}{
		{"Message", []string{"payload_type", "payload"}, nil},
		{"OutputEnvelope", []string{"generated_arrow_ipc_batch", "outputs"}, []int{payload}},
		{"RoutedOutput", []string{"output_relay", "columns", "acks"}, output},
		{"AckSidecar", []string{"rows", "acked", "nacked", "message_errors"}, acks},
		{"OutputRow", []string{"tokens"}, under(acks, 0, element(0))},
		{"AckTokenSet", []string{"tokens"}, under(acks, 1, element(0))},
		{"NackSet", []string{"tokens", "reason"}, under(acks, 2, element(0))},
		{"MessageErrorSet", []string{"tokens", "reason"}, under(acks, 3, element(0))},
	} {
		for slot, member := range table.members {
			all = append(all, wrong(table.name+" without "+member, bad, good.without(slot, table.steps...)))
		}
	}
	return all
}

// setByte changes a member of one byte.
func setByte(b []byte, table, slot int, v byte) {
	b[table+int(binary.LittleEndian.Uint16(b[entry(b, table, slot):]))] = v
}

// fields of generated batches, none of them named.
func typed(t arrow.DataType) []arrow.Field { return []arrow.Field{{Type: t}} }

// empty appends one value of nothing to every column.
func empty(b *array.RecordBuilder) {
	for i := range b.Fields() {
		b.Field(i).AppendEmptyValue()
	}
}

// pools has generated batches that are refused (W-066 to W-076).
func pools() []hostile {
	bad := "wasm.arrow"
	good := numbers(counter)
	pool := func(b []byte) answer {
		return envelope{b, outputs(to("out", plainColumns, sidecar(row(rowToken))))}.pack()
	}
	changed := func(change func(b []byte) []byte) answer { return pool(change(slices.Clone(good))) }
	of := func(name string, b []byte) hostile { return wrong("pool "+name, bad, pool(b)) }
	named := []arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}
	i64s := typed(arrow.PrimitiveTypes.Int64)
	one := func(b *array.RecordBuilder) { b.Field(0).(*array.Int64Builder).Append(1) }
	return []hostile{
		of("that is no stream", []byte("no arrow at all")),
		of("of four bytes", []byte{0xff, 0xff, 0xff, 0xff}),
		of("cut in its metadata", good[:40]), of("cut in its body", good[:len(good)-16]),
		of("with a tail", append(slices.Clone(good), 0, 0, 0, 0, 0, 0, 0, 0)),
		of("of two batches", streams(i64s, []func(*array.RecordBuilder){one, one})),
		of("of no batch", streams(i64s, nil)),
		of("twice", append(slices.Clone(good[:len(good)-8]), good...)),
		of("of no columns", stream(nil, func(*array.RecordBuilder) {})),
		of("with a named field", stream(named, one)),
		of("that is compressed", stream(i64s, func(b *array.RecordBuilder) {
			one(b)
		}, ipc.WithLZ4())),
		of("without continuation markers", good[4:]),
		wrong("pool whose metadata is longer than all", bad, changed(func(b []byte) []byte { put32(b, 4, 1<<30); return b })),
		wrong("pool whose metadata has a negative length", bad, changed(func(b []byte) []byte { put32(b, 4, -8); return b })),
		wrong("pool of zeros", bad, pool(make([]byte, 512))),
		wrong("pool of dictionaries", bad, pool(stream(typed(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}), empty))),
		wrong("pool of decimals", bad, pool(stream(typed(&arrow.Decimal128Type{Precision: 10, Scale: 2}), empty))),
		wrong("pool of structures", bad, pool(stream(typed(arrow.StructOf(arrow.Field{Type: arrow.PrimitiveTypes.Int64})), empty))),
		wrong("pool of milliseconds", bad, pool(stream(typed(arrow.FixedWidthTypes.Timestamp_ms), empty))),
		wrong("pool of large strings", bad, pool(stream(typed(arrow.BinaryTypes.LargeString), empty))),
		wrong("pool of another type", "wasm.columns", pool(stream(typed(arrow.PrimitiveTypes.Int32), empty))),
		wrong("pool of another sign", "wasm.columns", pool(stream(typed(arrow.PrimitiveTypes.Uint64), empty))),
		wrong("pool of texts", "wasm.columns", pool(stream(typed(arrow.BinaryTypes.String), empty))),
		wrong("pool that may be null", "wasm.columns", pool(stream([]arrow.Field{{Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, one))),
		wrong("pool with a column that nobody takes", "wasm.columns", pool(stream(append(slices.Clone(i64s), i64s...), empty))),
		wrong("pool that nobody takes", "wasm.columns", envelope{good, outputs(to("out", columns{in(0), in(1), in(0)}, sidecar(row(rowToken))))}.pack()),
		wrong("column beyond the pool", "wasm.columns", envelope{good, outputs(to("out", columns{in(0), in(1), made(1)}, sidecar(row(rowToken))))}.pack()),
		wrong("generated column without a pool", "wasm.columns", envelope{nil, outputs(to("out", plainColumns, sidecar(row(rowToken))))}.pack()),
		wrong("pool of two rows for one", "wasm.columns", pool(numbers(counter, 7))),
		wrong("pool of no rows for one", "wasm.columns", pool(numbers())),
		wrong("pool of one row for none", "wasm.columns", envelope{good, outputs(to("out", plainColumns, acked(sidecar(), rowToken)))}.pack()),
		// What is allowed.
		{name: "pool without an end marker", rows: after("p(i" + pool(good[:len(good)-8]).script() + ")"), counts: all3},
		{name: "pool that two fields share", rows: after("p(i" + envelope{good, outputs(to("out", columns{made(0), in(1), made(0)}, sidecar(row(rowToken))))}.pack().script() + ")"), counts: all3},
	}
}

// shapes has outputs that do not fit the processor.
func shapes() []hostile {
	bad := "wasm.columns"
	good := numbers(counter)
	out := func(o ...*nervix_wasm.RoutedOutputT) answer { return envelope{good, o}.pack() }
	one := sidecar(row(rowToken))
	return []hostile{
		wrong("no outputs", bad, envelope{nil, nil}.pack()),
		wrong("unknown relay", bad, out(to("elsewhere", plainColumns, one))),
		wrong("relay of another case", bad, out(to("OUT", plainColumns, one))),
		wrong("the input relay", bad, out(to("items", plainColumns, one))),
		wrong("relay without a name", bad, out(to("", plainColumns, one))),
		wrong("too few columns", bad, out(to("out", plainColumns[1:], one))),
		wrong("too many columns", bad, out(to("out", columns{in(0), in(1), made(0), in(0)}, one))),
		wrong("no columns", bad, out(to("out", columns{}, one))),
		wrong("input column beyond the input", bad, out(to("out", columns{in(3), in(1), made(0)}, one))),
		wrong("input column of number 4294967295", bad, out(to("out", columns{in(1<<32 - 1), in(1), made(0)}, one))),
		wrong("input column of another type", bad, out(to("out", columns{in(1), in(1), made(0)}, one))),
	}
}

// tokens has answers with tokens that are not the guest's to use. The row before has noted its token, which is decided by then.
func tokens() []hostile {
	bad := "wasm.token"
	good := numbers(counter)
	after := func(script string) []string { return []string{"p(hk)", script, ""} }
	out := func(s *nervix_wasm.AckSidecarT) *nervix_wasm.RoutedOutputT { return to("out", plainColumns, s) }
	side := func(s *nervix_wasm.AckSidecarT) *nervix_wasm.RoutedOutputT { return to("side", plainColumns, s) }
	bare := func(s *nervix_wasm.AckSidecarT) *nervix_wasm.RoutedOutputT {
		return to("out", columns{nothing(), nothing(), nothing()}, s)
	}
	in1 := func(tokens []uint64, source uint64) *nervix_wasm.OutputRowT {
		return &nervix_wasm.OutputRowT{Tokens: tokens, SourceToken: &source}
	}
	free := &nervix_wasm.OutputRowT{Tokens: []uint64{rowToken}}
	w := func(name string, all ...answer) hostile {
		script := emits(all...)
		return hostile{name: name, rows: after(script), counts: fromLife, fails: fails(protocol.StageOutput, bad), alone: script}
	}
	e := func(o ...*nervix_wasm.RoutedOutputT) answer { return envelope{good, o}.pack() }
	none := func(s *nervix_wasm.AckSidecarT) answer { return envelope{numbers(), outputs(out(s))}.pack() }
	const invented = 4711
	return []hostile{
		w("invented token carried", e(out(sidecar(row(invented))))),
		w("invented token acked", none(acked(sidecar(), invented))),
		w("invented token nacked", none(nacked(sidecar(), "no", invented))),
		w("invented token in error", none(refused(sidecar(), "no", invented))),
		w("token zero", none(acked(sidecar(), 0))),
		w("the next token", e(out(sidecar(row(rowToken+1))))),
		w("a token far ahead", e(out(sidecar(row(rowToken+60000))))),
		w("stale token carried", e(out(sidecar(row(heldToken))))),
		w("stale token acked", none(acked(sidecar(), rowToken, heldToken))),
		w("stale token nacked", none(nacked(sidecar(), "no", heldToken))),
		w("carried and acked", e(out(acked(sidecar(row(rowToken)), rowToken)))),
		w("carried and nacked", e(out(nacked(sidecar(row(rowToken)), "no", rowToken)))),
		w("carried and in error", e(out(refused(sidecar(row(rowToken)), "no", rowToken)))),
		w("acked twice", none(acked(acked(sidecar(), rowToken), rowToken))),
		w("acked twice in one set", none(acked(sidecar(), rowToken, rowToken))),
		w("acked and nacked", none(nacked(acked(sidecar(), rowToken), "no", rowToken))),
		w("nacked and in error", none(refused(nacked(sidecar(), "no", rowToken), "no", rowToken))),
		w("acked in two outputs", envelope{numbers(), outputs(out(acked(sidecar(), rowToken)), side(acked(sidecar(), rowToken)))}.pack()),
		w("acked in two messages", none(acked(sidecar(), rowToken)), none(acked(sidecar(), rowToken))),
		w("carried in one message and acked in another", e(out(sidecar(row(rowToken)))), none(acked(sidecar(), rowToken))),
		w("no source token for an input column", e(out(sidecar(free)))),
		w("source token that is not carried", e(out(sidecar(in1([]uint64{}, rowToken))))),
		w("source token that is invented", e(out(sidecar(in1([]uint64{rowToken}, invented))))),
		w("source token that is stale", e(out(sidecar(in1([]uint64{rowToken, heldToken}, heldToken))))),
		w("bad source token without an input column", envelope{nil, outputs(bare(sidecar(in1([]uint64{rowToken}, invented))))}.pack()),
		// One bad group spoils all of the callback.
		w("a good message before a bad one", e(out(sidecar(row(rowToken)))), none(acked(sidecar(), invented))),
		w("a good output before a bad one", e(out(sidecar(row(rowToken))), side(sidecar(row(invented))))),
		// The successor of an instance knows no token of it, also not one that it kept in its state (W-102).
		{name: "token of the instance before", rows: []string{"p(hk)", "p(x)", emits(e(out(sidecar(row(heldToken))))), ""}, counts: fromLife,
			fails: append(fails(protocol.StageBatch, "wasm.trap"), fails(protocol.StageOutput, bad)...)},
		// What is allowed: three rows of one input, in two messages.
		{name: "a token carried three times", rows: after("p(i" + envelope{numbers(counter, counter), outputs(out(sidecar(row(rowToken), row(rowToken))))}.pack().script() +
			e(out(sidecar(row(rowToken)))).script() + ")"), counts: []int{1, 2, 2, 2, 3}},
		{name: "a token acked", rows: after("p(i" + none(acked(sidecar(), rowToken)).script() + ")"), counts: fromLife},
		{name: "a token that is kept for good", rows: after("p(i)"), counts: fromLife},
		{name: "a message of no rows", rows: after("p(i" + none(sidecar()).script() + ")"), counts: fromLife},
	}
}
