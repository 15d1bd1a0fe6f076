// SPDX-License-Identifier: Apache-2.0

package protocol_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nervix-go/nervix/host/wire/verify"
	"github.com/nervix-go/nervix/wasm/protocol"
	"github.com/nervix-go/nervix/wasm/protocol/gen/nervix_wasm"
)

// mutate changes one to four places behind the size prefix, and sometimes the length; the prefix stays right, so that the damage is met.
func mutate(r *rand.Rand, message []byte) []byte {
	out := slices.Clone(message)
	for range 1 + r.IntN(4) {
		at := 4 + r.IntN(len(out)-4)
		switch r.IntN(6) {
		case 0:
			out[at] = byte(r.Uint32())
		case 1:
			out[at] ^= 1 << r.IntN(8)
		case 2:
			out[at] = byte(r.IntN(16))
		case 3:
			copy(out[at:], out[4+r.IntN(len(out)-4):])
		case 4:
			at &^= 3
			binary.LittleEndian.PutUint32(out[at:at+4], uint32(r.IntN(64)))
		default:
			if len(out) > 40 && r.IntN(8) == 0 {
				out = out[:len(out)-1-r.IntN(len(out)/2)]
			}
		}
	}
	binary.LittleEndian.PutUint32(out, uint32(len(out)-4))
	return out
}

// agrees compares a verdict of the one-pass reader with that of the table-driven verifier.
func agrees(t testing.TB, message []byte, err error) {
	t.Helper()
	second := oracle(message)
	theirs, ours := ruleOf(second), ruleOf(err)
	switch {
	case theirs == verify.RuleSize || theirs == verify.RuleTables || ours == verify.RuleSize || ours == verify.RuleTables:
		return // the budgets count different things
	case err == nil && second != nil:
		t.Fatalf("accepted what the verifier refuses: %v\n%x", second, message)
	case protocol.ClassOf(err) == protocol.ClassVerification && ours != verify.RuleAlignment && second == nil:
		t.Fatalf("refused what the verifier accepts: %v\n%x", err, message)
	case protocol.ClassOf(err) == protocol.ClassEnum && second == nil:
		t.Fatalf("an undeclared value passed the verifier: %v", err)
	}
}

// TestDamagedMessagesFailOrReadTheSame mutates messages of all kinds: none may panic, what is accepted reads as the generated code reads it, and the
// one-pass reader and the table-driven verifier agree.
func TestDamagedMessagesFailOrReadTheSame(t *testing.T) {
	all := samples(t)
	all["aligned"] = packAligned(sample(t))
	all["many"] = sampleInput(t, 40)
	names := slices.Sorted(mapKeys(all))
	r := rand.New(rand.NewPCG(5, 6))
	c := contract()
	refused, bound := 0, 0
	rounds := 20_000
	if os.Getenv("NERVIX_SOAK") != "" {
		rounds = 3_000_000
	}
	for i := range rounds {
		name := names[i%len(names)]
		message := mutate(r, all[name])
		err := decodeAny(t, c, message, &bound)
		if again := decodeAny(t, c, message, new(int)); fmt.Sprint(err) != fmt.Sprint(again) {
			t.Fatalf("%s: one message, two verdicts: %v / %v", name, err, again)
		}
		if err != nil {
			refused++
		}
	}
	if refused < rounds/4 || refused == rounds || bound == 0 {
		t.Fatalf("%d of %d damaged messages were refused, %d were bound", refused, rounds, bound)
	}
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// decodeAny reads a message as what its variant says, and everything that can be read from it.
func decodeAny(t testing.TB, c *protocol.Contract, message []byte, bound *int) error {
	t.Helper()
	o, err := protocol.DecodeOutput(message)
	switch protocol.ClassOf(err) {
	default:
		agrees(t, message, err)
		return err
	case protocol.ClassLength, protocol.ClassIdentifier:
		return err
	case protocol.ClassPayload:
		return decodeOther(t, message)
	case 0:
	}
	agrees(t, message, nil)
	theirs := nervix_wasm.GetSizePrefixedRootAsMessage(message, 0).UnPack().Payload.Value
	same(t, theirs, any(objectOf(o)))
	g, err := c.Bind(o)
	if err != nil {
		return err
	}
	*bound++
	touch(g)
	l := protocol.NewLedger(101)
	l.Issue(6)
	_, err = l.Check([]*protocol.Group{g})
	g.Release()
	return err
}

// same compares readings; the exact and slow comparison is for those that differ.
func same(t testing.TB, a, b any) {
	t.Helper()
	if !reflect.DeepEqual(a, b) {
		if d := cmp.Diff(a, b, cmpopts.EquateEmpty()); d != "" {
			t.Fatal(d)
		}
	}
}

// touch reads every value of a generated batch.
func touch(g *protocol.Group) {
	if g.Generated == nil {
		return
	}
	for _, c := range g.Generated.Columns() {
		for i := range c.Len() {
			_ = c.ValueStr(i)
		}
	}
}

func decodeOther(t testing.TB, message []byte) error {
	in, err := protocol.DecodeInput(message)
	switch protocol.ClassOf(err) {
	default:
		agrees(t, message, err)
		return err
	case 0:
		agrees(t, message, nil)
		theirs := nervix_wasm.GetSizePrefixedRootAsMessage(message, 0).UnPack().Payload.Value.(*nervix_wasm.InputEnvelopeT)
		same(t, theirs.Acks, acksOf(&in.Acks))
		return nil
	case protocol.ClassPayload:
	}
	if i, err := protocol.DecodeInit(message); protocol.ClassOf(err) != protocol.ClassPayload {
		if err != nil {
			return err
		}
		return encodesAgain(t, i)
	}
	s, err := protocol.DecodeSnapshot(message)
	if err == nil {
		_, err = protocol.DecodeInit(s.Init)
	}
	return err
}

// encodesAgain says an init payload in our words; it means the same.
func encodesAgain(t testing.TB, i *protocol.Init) error {
	t.Helper()
	if i.BranchKey != nil && len(i.BranchKey) == 0 {
		return nil // not allowed to us
	}
	again, err := protocol.EncodeInit(i)
	if err != nil {
		return nil // shared tables of the message make it larger than the limit when they are written out
	}
	second, err := protocol.DecodeInit(again)
	if err != nil || !cmp.Equal(i, second) {
		t.Fatalf("read differently after encoding: %v\n%s", err, cmp.Diff(i, second))
	}
	return nil
}

// sharedVector is a vector whose elements are all the same table.
func sharedVector(b *flatbuffers.Builder, table flatbuffers.UOffsetT, n int) flatbuffers.UOffsetT {
	b.StartVector(4, n, 4)
	for range n {
		b.PrependUOffsetT(table)
	}
	return b.EndVector(n)
}

// sharedOutput has n references to one output, whose columns, rows and tokens are n references and numbers where it says so.
func sharedOutput(outputs, columns, rowCount, tokens int) []byte {
	b := flatbuffers.NewBuilder(1 << 16)
	list := b.CreateVectorOfTables(nil)
	b.StartVector(8, tokens, 8)
	for i := range tokens {
		b.PrependUint64(uint64(i))
	}
	all := b.EndVector(tokens)
	nervix_wasm.OutputRowStart(b)
	nervix_wasm.OutputRowAddTokens(b, all)
	oneRow := nervix_wasm.OutputRowEnd(b)
	nervix_wasm.OutputColumnRefStart(b)
	oneColumn := nervix_wasm.OutputColumnRefEnd(b)
	sharedRows, sharedColumns := sharedVector(b, oneRow, rowCount), sharedVector(b, oneColumn, columns)
	nervix_wasm.AckSidecarStart(b)
	nervix_wasm.AckSidecarAddRows(b, sharedRows)
	nervix_wasm.AckSidecarAddAcked(b, list)
	nervix_wasm.AckSidecarAddNacked(b, list)
	nervix_wasm.AckSidecarAddMessageErrors(b, list)
	acks := nervix_wasm.AckSidecarEnd(b)
	name := b.CreateString("alarms")
	nervix_wasm.RoutedOutputStart(b)
	nervix_wasm.RoutedOutputAddOutputRelay(b, name)
	nervix_wasm.RoutedOutputAddColumns(b, sharedColumns)
	nervix_wasm.RoutedOutputAddAcks(b, acks)
	output := nervix_wasm.RoutedOutputEnd(b)
	routed := sharedVector(b, output, outputs)
	none := b.CreateByteVector(nil)
	nervix_wasm.OutputEnvelopeStart(b)
	nervix_wasm.OutputEnvelopeAddGeneratedArrowIpcBatch(b, none)
	nervix_wasm.OutputEnvelopeAddOutputs(b, routed)
	envelope := nervix_wasm.OutputEnvelopeEnd(b)
	nervix_wasm.MessageStart(b)
	nervix_wasm.MessageAddPayload(b, envelope)
	nervix_wasm.MessageAddPayloadType(b, nervix_wasm.MessagePayloadOutputEnvelope)
	b.FinishSizePrefixedWithFileIdentifier(nervix_wasm.MessageEnd(b), []byte(protocol.Identifier))
	return b.FinishedBytes()
}

// TestForeignMessagesAllocateInProportion holds judging a message, refused or not, to 64 KiB + 16n. The meter is that of the whole process, so a
// reading above the bound is taken again.
func TestForeignMessagesAllocateInProportion(t *testing.T) {
	worst, worstName := 0.0, ""
	check := func(name string, message []byte) {
		t.Helper()
		bound := 64<<10 + 16*len(message)
		got := 0
		for range 3 {
			c := contract() // its cache is part of the cost
			if got = allocated(func() { judgeOnce(c, message) }); got <= bound {
				break
			}
		}
		if got > bound {
			t.Errorf("%s: a message of %d bytes allocated %d, the bound is %d", name, len(message), got, bound)
		}
		if share := float64(got) / float64(bound); share > worst {
			worst, worstName = share, name
		}
	}
	all := samples(t)
	r := rand.New(rand.NewPCG(7, 8))
	for _, name := range slices.Sorted(mapKeys(all)) {
		check(name, all[name])
		for range 700 {
			check("damaged "+name, mutate(r, all[name]))
		}
	}
	for _, n := range []int{10, 1_000, 20_000, 100_000} {
		check("shared outputs", sharedOutput(n, 0, 0, 0))
		check("shared columns", sharedOutput(1, n, 0, 0))
		check("shared rows", sharedOutput(1, 3, n, 1))
		check("shared rows of many tokens", sharedOutput(1, 3, n, n/10))
		check("shared all", sharedOutput(n/10, 3, n, 1))
	}
	for _, n := range []int{10, 300, 3_000} {
		var fields []arrow.Field
		for i := range n {
			fields = append(fields, []arrow.Field{scoreField, marksField, {Type: &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "+00:00"}}}[i%3])
		}
		o := sample(t)
		o.GeneratedArrowIpcBatch = stream(t, fields, 1)
		check("many generated columns", packOutput(o))
		deep := arrow.DataType(arrow.PrimitiveTypes.Int8)
		for range 10 {
			deep = arrow.ListOf(deep)
		}
		o.GeneratedArrowIpcBatch = stream(t, slices.Repeat([]arrow.Field{{Type: deep}}, n/10), 1)
		check("many deep columns", packOutput(o))
		i := sampleInit()
		for range n {
			i.Outputs = append(i.Outputs, protocol.Shape{Name: "a", Fields: []protocol.Field{{Name: "b", Type: i.Outputs[1].Fields[14].Type}}})
		}
		check("many schemas", must[[]byte](t)(protocol.EncodeInit(i)))
	}
	t.Logf("the dearest message is %q: %.0f %% of the bound", worstName, 100*worst)
}

func judgeOnce(c *protocol.Contract, message []byte) {
	if o, err := protocol.DecodeOutput(message); err == nil {
		if g, err := c.Bind(o); err == nil {
			l := protocol.NewLedger(1)
			_, _ = l.Check([]*protocol.Group{g})
		}
	}
	_, _ = protocol.DecodeInput(message)
	_, _ = protocol.DecodeInit(message)
	if s, err := protocol.DecodeSnapshot(message); err == nil {
		_, _ = protocol.DecodeInit(s.Init)
	}
}
