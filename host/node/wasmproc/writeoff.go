// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/nervix-go/nervix/wasm/protocol"
	"github.com/nervix-go/nervix/wasm/protocol/gen/nervix_wasm"
)

// writeOff ends the tokens of an input that the host decided over, so that a guest which names them later is refused (W-106). All of them live.
//
// A ledger takes decisions from sidecars only. Where nothing else waits it is replaced; else it is told in a guest's words, which is slow and
// rare: a guest that buffers input and rejects more.
func (s *state) writeOff(in *intake) {
	if s.ledger == nil {
		return
	}
	if s.ledger.Live() == in.rows {
		s.renew()
		return
	}
	tokens := make([]uint64, in.rows)
	for i := range tokens {
		tokens[i] = in.first + uint64(i)
	}
	output, err := protocol.DecodeOutput(decision(tokens))
	if err == nil {
		_, err = s.ledger.Check([]*protocol.Group{{Outputs: []protocol.Bound{{Acks: output.Routed[0].Acks}}}})
	}
	if err != nil { // our own message over tokens that live
		panic("wasmproc: " + err.Error())
	}
	s.ledger.Settle(nil)
}

// decision is an output envelope that acknowledges tokens and emits nothing.
func decision(tokens []uint64) []byte {
	acks := &nervix_wasm.AckSidecarT{
		Rows: []*nervix_wasm.OutputRowT{}, Acked: []*nervix_wasm.AckTokenSetT{{Tokens: tokens}}, Nacked: []*nervix_wasm.NackSetT{},
		MessageErrors: []*nervix_wasm.MessageErrorSetT{},
	}
	envelope := &nervix_wasm.OutputEnvelopeT{
		GeneratedArrowIpcBatch: []byte{}, Outputs: []*nervix_wasm.RoutedOutputT{{Columns: []*nervix_wasm.OutputColumnRefT{}, Acks: acks}},
	}
	message := &nervix_wasm.MessageT{Payload: &nervix_wasm.MessagePayloadT{Type: nervix_wasm.MessagePayloadOutputEnvelope, Value: envelope}}
	b := flatbuffers.NewBuilder(256 + 8*len(tokens))
	b.FinishSizePrefixedWithFileIdentifier(message.Pack(b), []byte(protocol.Identifier))
	return b.FinishedBytes()
}
