// SPDX-License-Identifier: Apache-2.0

// Code generated from nervix_wasm.fbs by host/wire/generate.sh. DO NOT EDIT.

package nervix_wasm

import "github.com/nervix-go/nervix/host/wire/verify"

// The tables of Schema that are roots.
const (
	RootMessage         = 5
	IdentifierOfMessage = "NVWY"
)

// Schema describes nervix_wasm.fbs for the verifier.
var Schema = verify.Schema{
	Name: "nervix_wasm",
	Tables: []verify.Table{
		0: {Name: "AckSidecar", Slots: 4, Cost: 128, Fields: []verify.Field{
			{Name: "rows", Slot: 0, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 10, Rules: verify.Required},
			{Name: "acked", Slot: 1, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 1, Rules: verify.Required},
			{Name: "nacked", Slot: 2, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 7, Rules: verify.Required},
			{Name: "message_errors", Slot: 3, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 6, Rules: verify.Required},
		}},
		1: {Name: "AckTokenSet", Slots: 1, Cost: 56, Fields: []verify.Field{
			{Name: "tokens", Slot: 0, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 8, Align: 8, Rules: verify.Required},
		}},
		2: {Name: "BranchInit", Slots: 5, Cost: 128, Fields: []verify.Field{
			{Name: "domain_name", Slot: 0, Kind: verify.KindString, Rules: verify.Required},
			{Name: "domain_type", Slot: 1, Kind: verify.KindString, Rules: verify.Required},
			{Name: "branch_key", Slot: 2, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 1, Align: 1},
			{Name: "input_schema", Slot: 3, Kind: verify.KindTable, Ref: 12, Rules: verify.Required},
			{Name: "output_schemas", Slot: 4, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 12, Rules: verify.Required},
		}},
		3: {Name: "GuestSnapshot", Slots: 2, Cost: 80, Fields: []verify.Field{
			{Name: "init_metadata", Slot: 0, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 1, Align: 1, Rules: verify.Required},
			{Name: "application_state", Slot: 1, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 1, Align: 1, Rules: verify.Required},
		}},
		4: {Name: "InputEnvelope", Slots: 2, Cost: 72, Fields: []verify.Field{
			{Name: "arrow_ipc_batch", Slot: 0, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 1, Align: 1, Rules: verify.Required},
			{Name: "acks", Slot: 1, Kind: verify.KindTable, Rules: verify.Required},
		}},
		5: {Name: "Message", Identifier: IdentifierOfMessage, Slots: 2, Cost: 48, Fields: []verify.Field{
			{Name: "payload", Slot: 1, Kind: verify.KindUnion, Rules: verify.Required},
		}},
		6: {Name: "MessageErrorSet", Slots: 2, Cost: 72, Fields: []verify.Field{
			{Name: "tokens", Slot: 0, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 8, Align: 8, Rules: verify.Required},
			{Name: "reason", Slot: 1, Kind: verify.KindString, Rules: verify.Required},
		}},
		7: {Name: "NackSet", Slots: 2, Cost: 72, Fields: []verify.Field{
			{Name: "tokens", Slot: 0, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 8, Align: 8, Rules: verify.Required},
			{Name: "reason", Slot: 1, Kind: verify.KindString, Rules: verify.Required},
		}},
		8: {Name: "OutputColumnRef", Slots: 2, Cost: 64, Fields: []verify.Field{
			{Name: "source", Slot: 0, Kind: verify.KindEnum, Size: 1, Align: 1, ZeroDefault: true},
			{Name: "column_index", Slot: 1, Kind: verify.KindScalar, Size: 4, Align: 4, ZeroDefault: true},
		}},
		9: {Name: "OutputEnvelope", Slots: 2, Cost: 80, Fields: []verify.Field{
			{Name: "generated_arrow_ipc_batch", Slot: 0, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 1, Align: 1, Rules: verify.Required},
			{Name: "outputs", Slot: 1, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 14, Rules: verify.Required},
		}},
		10: {Name: "OutputRow", Slots: 2, Cost: 72, Fields: []verify.Field{
			{Name: "tokens", Slot: 0, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 8, Align: 8, Rules: verify.Required},
			{Name: "source_token", Slot: 1, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
		}},
		11: {Name: "ProcessorField", Slots: 3, Cost: 80, Fields: []verify.Field{
			{Name: "name", Slot: 0, Kind: verify.KindString, Rules: verify.Required},
			{Name: "type", Slot: 1, Kind: verify.KindTable, Ref: 13, Rules: verify.Required},
			{Name: "optional", Slot: 2, Kind: verify.KindBool, Size: 1, Align: 1, ZeroDefault: true},
		}},
		12: {Name: "ProcessorSchema", Slots: 2, Cost: 72, Fields: []verify.Field{
			{Name: "name", Slot: 0, Kind: verify.KindString, Rules: verify.Required},
			{Name: "fields", Slot: 1, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 11, Rules: verify.Required},
		}},
		13: {Name: "ProcessorType", Slots: 3, Cost: 80, Fields: []verify.Field{
			{Name: "kind", Slot: 0, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 1, ZeroDefault: true},
			{Name: "element", Slot: 1, Kind: verify.KindTable, Ref: 13},
			{Name: "array_len", Slot: 2, Kind: verify.KindScalar, Size: 4, Align: 4, ZeroDefault: true},
		}},
		14: {Name: "RoutedOutput", Slots: 3, Cost: 88, Fields: []verify.Field{
			{Name: "output_relay", Slot: 0, Kind: verify.KindString, Rules: verify.Required},
			{Name: "columns", Slot: 1, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 8, Rules: verify.Required},
			{Name: "acks", Slot: 2, Kind: verify.KindTable, Rules: verify.Required},
		}},
	},
	Enums: []verify.Enum{
		0: {Name: "ColumnSource", Flags: false, Values: []uint64{0x0, 0x1, 0x2}},
		1: {Name: "ProcessorTypeKind", Flags: false, Values: []uint64{0x0, 0x1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x8, 0x9, 0xa, 0xb, 0xc, 0xd, 0xe, 0xf}},
	},
	Unions: []verify.Union{
		0: {Name: "MessagePayload", Tables: []verify.UnionCase{{Type: 1, Table: 2}, {Type: 2, Table: 4}, {Type: 3, Table: 9}, {Type: 4, Table: 3}}},
	},
}
