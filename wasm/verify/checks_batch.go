// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/protocol"
	"github.com/nervix-go/nervix/wasm/protocol/gen/nervix_wasm"
)

func batchRows(k *kit) error {
	for n, c := range k.accepted {
		g, err := k.started(c)
		if err != nil {
			return err
		}
		g.mute = true
		sizes := []int{1, 7, 0, 64, 1, 200, 3}
		if n == 0 {
			sizes = []int{1, 7, 0, 64, 1, 1000, 8192, 8192, 3}
		}
		for i, rows := range sizes {
			if _, err := g.batch(made(c.schemas.Input, rows, uint64(i), false)); err != nil {
				return fail("schemas `%s`, a batch of %d rows: %w", c.name, rows, err)
			}
		}
		if _, err := g.flush(); err != nil {
			return fail("schemas `%s`, flush: %w", c.name, err)
		}
	}
	return nil
}

func batchEdges(k *kit) error {
	for _, c := range k.accepted {
		g, err := k.started(c)
		if err != nil {
			return err
		}
		g.mute = true
		for seed := range uint64(8) {
			if _, err := g.batch(made(c.schemas.Input, 40, seed, true)); err != nil {
				return fail("schemas `%s`: %w", c.name, err)
			}
		}
		if _, err := g.flush(); err != nil {
			return fail("schemas `%s`, flush: %w", c.name, err)
		}
	}
	return nil
}

// batchText makes the host's estimate of a message too small by far: one text of 300,000 bytes behind small rows.
func batchText(k *kit) error {
	for _, c := range k.accepted {
		long := lengthened(made(c.schemas.Input, 4, 1, false), strings.Repeat("0123456789", 30_000))
		if long == nil {
			continue
		}
		g, err := k.started(c)
		if err != nil {
			return err
		}
		g.mute = true
		small := made(c.schemas.Input, 2, 2, false)
		for _, b := range []arrow.RecordBatch{small, long, small} {
			if _, err := g.batch(b); err != nil {
				return fail("schemas `%s`: %w", c.name, err)
			}
		}
		_, err = g.flush()
		return err
	}
	return notApplicable("the input has no text")
}

// lengthened is the batch with another text in the first row of its first text column; nil if it has none.
func lengthened(b arrow.RecordBatch, text string) arrow.RecordBatch {
	for i, c := range b.Columns() {
		if c.DataType().ID() != arrow.STRING {
			continue
		}
		old := c.(*array.String)
		build := array.NewStringBuilder(memory.DefaultAllocator)
		build.Append(text)
		for row := 1; row < old.Len(); row++ {
			build.Append(old.Value(row))
		}
		columns := append([]arrow.Array(nil), b.Columns()...)
		columns[i] = build.NewArray()
		return array.NewRecordBatch(b.Schema(), columns, b.NumRows())
	}
	return nil
}

// packedInput is an input envelope with any Arrow bytes and any rows. The Arrow bytes begin at a multiple of 16, as the host writes them.
func packedInput(stream []byte, rows []*nervix_wasm.OutputRowT) []byte {
	acks := &nervix_wasm.AckSidecarT{Rows: rows, Acked: []*nervix_wasm.AckTokenSetT{}, Nacked: []*nervix_wasm.NackSetT{}, MessageErrors: []*nervix_wasm.MessageErrorSetT{}}
	b := flatbuffers.NewBuilder(1024)
	sidecar := acks.Pack(b)
	b.StartVector(1, len(stream), 16)
	for _, one := range slices.Backward(stream) {
		b.PlaceByte(one)
	}
	arrow := b.EndVector(len(stream))
	nervix_wasm.InputEnvelopeStart(b)
	nervix_wasm.InputEnvelopeAddArrowIpcBatch(b, arrow)
	nervix_wasm.InputEnvelopeAddAcks(b, sidecar)
	input := nervix_wasm.InputEnvelopeEnd(b)
	nervix_wasm.MessageStart(b)
	nervix_wasm.MessageAddPayloadType(b, nervix_wasm.MessagePayloadInputEnvelope)
	nervix_wasm.MessageAddPayload(b, input)
	b.FinishSizePrefixedWithFileIdentifier(nervix_wasm.MessageEnd(b), []byte(protocol.Identifier))
	return b.FinishedBytes()
}

func batchDamaged(k *kit) error {
	c := k.main()
	message, err := inputMessage(c)
	if err != nil {
		return err
	}
	bad := damage(message)
	if bad["an init payload"], err = c.message(); err != nil {
		return err
	}
	if bad["a snapshot"], err = protocol.EncodeSnapshot(protocol.Snapshot{Init: bad["an init payload"]}); err != nil {
		return err
	}
	input, err := protocol.DecodeInput(message)
	if err != nil {
		return err
	}
	token := uint64(firstToken)
	row := []*nervix_wasm.OutputRowT{{Tokens: []uint64{token}, SourceToken: &token}}
	bad["a batch without Arrow bytes"] = packedInput([]byte{}, row)
	bad["a batch whose Arrow stream ends early"] = packedInput(input.Arrow[:len(input.Arrow)/2&^7], row)
	bad["an empty message of the right kind"] = packedInput([]byte{}, []*nervix_wasm.OutputRowT{})
	g, err := k.started(c)
	if err != nil {
		return err
	}
	if _, err := g.batch(made(c.schemas.Input, 3, 1, false)); err != nil {
		return err
	}
	before, err := g.dump()
	if err != nil {
		return err
	}
	for _, name := range sorted(bad) {
		g.begin(engine.OpBatch)
		_, err := g.Deliver(engine.ProcessBatch, bad[name])
		if err := settled(err, name); err != nil {
			return err
		}
	}
	after, err := g.dump()
	if err != nil {
		return fail("after refused messages: %w", err)
	}
	if string(before) != string(after) {
		return fail("refused messages change the saved state")
	}
	if _, err := g.batch(made(c.schemas.Input, 3, 2, false)); err != nil {
		return fail("after refused messages: %w", err)
	}
	_, err = g.flush()
	return err
}

func batchDrained(k *kit) error {
	g, err := k.started(k.main())
	if err != nil {
		return err
	}
	for seed := range uint64(4) {
		if _, err := g.batch(made(g.scenario.schemas.Input, 5, seed, false)); err != nil {
			return err
		}
		a, err := g.ReadEmit() // of the operation before
		if err != nil {
			return fail("a read more: %w", err)
		}
		if a.Output.Len() > 0 {
			return fail("after an answer of 0 the next read gives %d bytes", a.Output.Len())
		}
	}
	return nil
}

func tokensSettled(k *kit) error {
	for _, c := range k.accepted {
		g, err := k.started(c)
		if err != nil {
			return err
		}
		g.mute = true
		for i, rows := range []int{1, 30, 0, 7, 1, 2} {
			if _, err := g.batch(made(c.schemas.Input, rows, uint64(i), i%2 == 0)); err != nil {
				return err
			}
		}
		if _, err := g.flush(); err != nil {
			return err
		}
		if n := g.ledger.Live(); n > 0 {
			return fail("schemas `%s`: %d of %d inputs are neither carried nor decided", c.name, n, g.ledger.Next()-firstToken)
		}
	}
	return nil
}

// tokensWhole delivers rows of two tokens each: token i and token i + rows.
func tokensWhole(k *kit) error {
	const rows = 50
	g, err := k.started(k.main())
	if err != nil {
		return err
	}
	batch := made(g.scenario.schemas.Input, rows, 1, false)
	first := g.ledger.Issue(2 * rows)
	plain, err := g.encoded(batch, first)
	if err != nil {
		return err
	}
	input, err := protocol.DecodeInput(plain)
	if err != nil {
		return err
	}
	var entries []*nervix_wasm.OutputRowT
	for i := range uint64(rows) {
		source := first + i
		entries = append(entries, &nervix_wasm.OutputRowT{Tokens: []uint64{first + i, first + rows + i}, SourceToken: &source})
	}
	g.inputs[first] = batch
	g.begin(engine.OpBatch)
	a, err := g.Deliver(engine.ProcessBatch, packedInput(input.Arrow, entries))
	said, err := g.finish(a, err)
	if err != nil {
		return err
	}
	more, err := g.flush()
	if err != nil {
		return err
	}
	for line := range strings.Lines(said + more) {
		if bad := torn(line, rows); bad != "" {
			return fail("an output row or decision has %s", bad)
		}
	}
	if n := g.ledger.Live(); n > 0 {
		return fail("%d of %d tokens are neither carried nor decided", n, 2*rows)
	}
	return nil
}

// torn finds a token without its partner in a line of rendered output.
func torn(line string, rows int) string {
	open, end := strings.IndexByte(line, '['), strings.IndexByte(line, ']')
	if open < 0 || end < open || strings.Contains(line, "generated ") {
		return ""
	}
	there := map[string]bool{}
	list := strings.Fields(line[open+1 : end])
	for _, t := range list {
		there[t] = true
	}
	for _, t := range list {
		n := atoi(t)
		if !there[itoa((n+rows)%(2*rows))] {
			return "token " + t + " of an input without the other token of that input"
		}
	}
	return ""
}

func flushTwice(k *kit) error {
	g, err := k.started(k.main())
	if err != nil {
		return err
	}
	for i := range 3 {
		if i < 2 {
			if _, err := g.batch(made(g.scenario.schemas.Input, 5, uint64(i), false)); err != nil {
				return err
			}
		}
		if _, err := g.flush(); err != nil {
			return err
		}
		said, err := g.flush()
		if err != nil {
			return err
		}
		if said != "" {
			return fail("the second of two flushes emits:\n%s", said)
		}
	}
	return nil
}
