// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/wasm/protocol/gen/nervix_wasm"
)

// Snapshot is the common wrapping of guest state. The host saves whatever nervix_dump_state gives and never looks inside; this reading is for
// guests that use the wrapping, for the conformance kit and for tests (W-124, W-310).
type Snapshot struct {
	// Init is the init payload the state was saved under: a message of its own, see DecodeInit.
	Init []byte
	// State is the guest's own state; it may be empty.
	State []byte
}

// EncodeSnapshot gives the message of a snapshot. Faults: wasm.unencodable if Init is no init payload, wasm.buffer.
func EncodeSnapshot(s Snapshot) ([]byte, error) {
	if _, err := DecodeInit(s.Init); err != nil {
		return nil, refuse(fault.WasmUnencodable, "EncodeSnapshot", "the init payload of a snapshot is invalid", err)
	}
	state := s.State
	if state == nil {
		state = []byte{}
	}
	message := packed(nervix_wasm.MessagePayloadGuestSnapshot, &nervix_wasm.GuestSnapshotT{InitMetadata: s.Init, ApplicationState: state})
	return message, JudgeSize(len(message))
}

// DecodeSnapshot verifies a snapshot; the result is a view of message. The init payload inside is not judged. Fault: wasm.message.
func DecodeSnapshot(message []byte) (Snapshot, error) {
	m, bad := verified(message, nervix_wasm.MessagePayloadGuestSnapshot)
	if bad != nil {
		return Snapshot{}, badMessage("DecodeSnapshot", bad)
	}
	var tab flatbuffers.Table
	m.Payload(&tab)
	var x nervix_wasm.GuestSnapshot
	x.Init(tab.Bytes, tab.Pos)
	return Snapshot{Init: x.InitMetadataBytes(), State: x.ApplicationStateBytes()}, nil
}
