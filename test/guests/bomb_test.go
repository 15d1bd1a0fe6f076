// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/nervix-go/nervix/test/nodes"
	"github.com/nervix-go/nervix/wasm/engine/watguest"
	"github.com/nervix-go/nervix/wasm/protocol"
	"github.com/nervix-go/nervix/wasm/protocol/gen/nervix_wasm"
)

// bombed names the list of a sidecar that a bomb repeats one entry in.
type bombed int

const (
	bombRows bombed = iota
	bombAcked
	bombNacked
	bombErrors
)

// bombMessage is an output of which one list has n entries that are all the same table: four bytes each. The row names no input, the decisions
// no token.
func bombMessage(which bombed, n int, reason string) (message []byte, entries int) {
	b := flatbuffers.NewBuilder(4*n + 1024)
	list := func(size int) flatbuffers.UOffsetT { b.StartVector(size, 0, size); return b.EndVector(0) }
	many := func(build func() flatbuffers.UOffsetT) flatbuffers.UOffsetT {
		one := build()
		b.StartVector(4, n, 4)
		for range n {
			b.PrependUOffsetT(one)
		}
		return b.EndVector(n)
	}
	ipc, none := list(1), list(8)
	why := b.CreateString(reason)
	relay := b.CreateString("out")
	vectors := [4]flatbuffers.UOffsetT{}
	builds := [4]func() flatbuffers.UOffsetT{
		func() flatbuffers.UOffsetT {
			nervix_wasm.OutputRowStart(b)
			nervix_wasm.OutputRowAddTokens(b, none)
			return nervix_wasm.OutputRowEnd(b)
		},
		func() flatbuffers.UOffsetT {
			nervix_wasm.AckTokenSetStart(b)
			nervix_wasm.AckTokenSetAddTokens(b, none)
			return nervix_wasm.AckTokenSetEnd(b)
		},
		func() flatbuffers.UOffsetT {
			nervix_wasm.NackSetStart(b)
			nervix_wasm.NackSetAddTokens(b, none)
			nervix_wasm.NackSetAddReason(b, why)
			return nervix_wasm.NackSetEnd(b)
		},
		func() flatbuffers.UOffsetT {
			nervix_wasm.MessageErrorSetStart(b)
			nervix_wasm.MessageErrorSetAddTokens(b, none)
			nervix_wasm.MessageErrorSetAddReason(b, why)
			return nervix_wasm.MessageErrorSetEnd(b)
		},
	}
	for k := range vectors {
		if bombed(k) == which {
			vectors[k] = many(builds[k])
		} else {
			vectors[k] = list(4)
		}
	}
	at := vectors[which] // from the end
	nervix_wasm.AckSidecarStart(b)
	nervix_wasm.AckSidecarAddRows(b, vectors[0])
	nervix_wasm.AckSidecarAddAcked(b, vectors[1])
	nervix_wasm.AckSidecarAddNacked(b, vectors[2])
	nervix_wasm.AckSidecarAddMessageErrors(b, vectors[3])
	acks := nervix_wasm.AckSidecarEnd(b)
	var refs []flatbuffers.UOffsetT
	for range plainColumns {
		nervix_wasm.OutputColumnRefStart(b)
		nervix_wasm.OutputColumnRefAddSource(b, nervix_wasm.ColumnSourceUninitialized)
		refs = append(refs, nervix_wasm.OutputColumnRefEnd(b))
	}
	columns := b.CreateVectorOfTables(refs)
	nervix_wasm.RoutedOutputStart(b)
	nervix_wasm.RoutedOutputAddOutputRelay(b, relay)
	nervix_wasm.RoutedOutputAddColumns(b, columns)
	nervix_wasm.RoutedOutputAddAcks(b, acks)
	routed := b.CreateVectorOfTables([]flatbuffers.UOffsetT{nervix_wasm.RoutedOutputEnd(b)})
	nervix_wasm.OutputEnvelopeStart(b)
	nervix_wasm.OutputEnvelopeAddGeneratedArrowIpcBatch(b, ipc)
	nervix_wasm.OutputEnvelopeAddOutputs(b, routed)
	envelope := nervix_wasm.OutputEnvelopeEnd(b)
	nervix_wasm.MessageStart(b)
	nervix_wasm.MessageAddPayloadType(b, nervix_wasm.MessagePayloadOutputEnvelope)
	nervix_wasm.MessageAddPayload(b, envelope)
	b.FinishSizePrefixedWithFileIdentifier(nervix_wasm.MessageEnd(b), []byte(protocol.Identifier))
	message = b.FinishedBytes()
	return message, len(message) - int(at) + 4
}

// bomb is a guest that writes the message: what is before the entries, the entries, what is behind them.
func bomb(which bombed, n int, reason string) watguest.Guest {
	message, at := bombMessage(which, n, reason)
	const base = 1 << 20
	head, tail := message[:at], message[at+4*n:]
	first := int(binary.LittleEndian.Uint32(message[at:]))
	return watguest.Guest{
		Memory: fmt.Sprint((base+len(message))>>16 + 2),
		Extra:  fmt.Sprintf(`(data (i32.const %d) "%s") (data (i32.const %d) "%s")`, base, escaped(head), base+at+4*n, escaped(tail)),
		Bodies: map[string]string{
			"nervix_alloc": "i32.const 1024",
			"nervix_process_batch": fmt.Sprintf(`(local $p i32) (local $v i32)
			  (local.set $p (i32.const %d)) (local.set $v (i32.const %d))
			  (loop $l (i32.store (local.get $p) (local.get $v)) (local.set $v (i32.sub (local.get $v) (i32.const 4)))
			    (local.set $p (i32.add (local.get $p) (i32.const 4))) (br_if $l (i32.lt_u (local.get $p) (i32.const %d))))
			  (global.set $ptr (i32.const %d)) (global.set $emit (i32.const %d)) i32.const 0`, base+at, first, base+at+4*n, base, len(message)),
		},
	}
}

// TestBombs has messages whose lists say one thing a hundred thousand times, at four bytes each. They are refused or worked, and told in one line.
func TestBombs(t *testing.T) {
	t.Parallel()
	// req: A10 half: the size of lists
	const n = 100_000
	w := start(t)
	cases := []struct {
		list      bombed
		name, log string
	}{
		{bombRows, "rows", "rows failed and are not acknowledged"}, // the relay needs what they do not have
		{bombAcked, "acked", ""},
		{bombNacked, "nacked", "apparent size is out of proportion"},
		{bombErrors, "errors", "apparent size is out of proportion"},
	}
	files := []file{{"calm.wasm", wat(t, calmPuppet())}}
	for _, c := range cases {
		files = append(files, file{c.name + ".wasm", module(t, bomb(c.list, n, strings.Repeat("because ", 100)))})
	}
	a := w.arena(t, "bombs", arenaOptions{files: files})
	a.define(processor{name: "calm", file: "calm.wasm", routes: "TO calm ON MESSAGE ERROR LOG"}.text())
	for _, c := range cases {
		a.define(processor{name: c.name, file: c.name + ".wasm", detached: true, routes: "TO out ON MESSAGE ERROR LOG"}.text())
	}
	a.feed(item{"a", ""}, item{"b", ""})
	a.Do("START")
	a.Finish("feed")
	for _, c := range cases {
		nodes.Eventually(t, c.name+" worked both rows", func() bool {
			d := a.describe(c.name)
			return len(d.Branches) == 2 && d.Branches[0].Callbacks == 1 && d.Branches[1].Callbacks == 1 && d.Branches[0].Checkpoint == "REPLICA_CONFIRMED" && d.Branches[1].Checkpoint == "REPLICA_CONFIRMED"
		})
		want := map[bool]int{true: 0, false: 2}[c.log == ""]
		nodes.Eventually(t, c.name+" is in the log", func() bool { return len(a.told(c.name)) >= want })
		got := a.failures(c.name)
		if len(got) != want {
			t.Errorf("%s: %d lines, want %d", c.name, len(got), want)
		}
		for _, f := range got {
			if !strings.Contains(f.Msg+f.Message, c.log) {
				t.Errorf("%s: %+v", c.name, f)
			}
		}
	}
	w.node.Stop()
}
