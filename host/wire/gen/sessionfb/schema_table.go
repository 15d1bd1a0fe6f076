// SPDX-License-Identifier: Apache-2.0

// Code generated from session.fbs by host/wire/generate.sh. DO NOT EDIT.

package sessionfb

import "github.com/nervix-go/nervix/host/wire/verify"

// The tables of Schema that are roots.
const (
	RootClientFrame         = 2
	IdentifierOfClientFrame = "NXCM"
	RootServerFrame         = 18
	IdentifierOfServerFrame = "NXSM"
)

// Schema describes session.fbs for the verifier.
var Schema = verify.Schema{
	Name: "sessionfb",
	Tables: []verify.Table{
		0: {Name: "CancelOutcome", Slots: 1, Cost: 48, Fields: []verify.Field{
			{Name: "result", Slot: 0, Kind: verify.KindEnum, Size: 1, Align: 1, Rules: verify.Present, ZeroDefault: true},
		}},
		1: {Name: "CancelRequest", Slots: 1, Cost: 48, Fields: []verify.Field{
			{Name: "target", Slot: 0, Kind: verify.KindScalar, Size: 8, Align: 8, Rules: verify.Nonzero, ZeroDefault: true},
		}},
		2: {Name: "ClientFrame", Identifier: IdentifierOfClientFrame, Slots: 3, Cost: 64, Fields: []verify.Field{
			{Name: "body", Slot: 1, Kind: verify.KindUnion, Rules: verify.Required},
			{Name: "request_id", Slot: 2, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
		}},
		3: {Name: "CommandOutcome", Slots: 12, Cost: 240, Fields: []verify.Field{
			{Name: "disposition", Slot: 0, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 1, Rules: verify.Present, ZeroDefault: true},
			{Name: "reference", Slot: 1, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 128},
			{Name: "already_existed", Slot: 2, Kind: verify.KindBool, Size: 1, Align: 1, ZeroDefault: true},
			{Name: "recovered", Slot: 3, Kind: verify.KindBool, Size: 1, Align: 1, ZeroDefault: true},
			{Name: "text", Slot: 4, Kind: verify.KindString},
			{Name: "data", Slot: 5, Kind: verify.KindString},
			{Name: "statements", Slot: 6, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 20},
			{Name: "diagnostics", Slot: 7, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 7},
			{Name: "domain", Slot: 8, Kind: verify.KindString, MaxBytes: 255},
			{Name: "transaction", Slot: 9, Kind: verify.KindTable, Ref: 23},
			{Name: "unknown_cause", Slot: 10, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 8, ZeroDefault: true},
			{Name: "commit", Slot: 11, Kind: verify.KindTable, Ref: 5},
		}},
		4: {Name: "CommandRequest", Slots: 4, Cost: 96, Fields: []verify.Field{
			{Name: "reference", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 128},
			{Name: "domain", Slot: 1, Kind: verify.KindString, MaxBytes: 255},
			{Name: "text", Slot: 2, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty},
			{Name: "format", Slot: 3, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 4, Rules: verify.Present, ZeroDefault: true},
		}},
		5: {Name: "CommitReport", Slots: 3, Cost: 88, Fields: []verify.Field{
			{Name: "applied", Slot: 0, Kind: verify.KindScalar, Size: 4, Align: 4, ZeroDefault: true},
			{Name: "failed", Slot: 1, Kind: verify.KindScalar, Size: 4, Align: 4, ZeroDefault: true},
			{Name: "operations", Slot: 2, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 14},
		}},
		6: {Name: "ConnectorStatus", Slots: 4, Cost: 96, Fields: []verify.Field{
			{Name: "kind", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "pid", Slot: 1, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "state", Slot: 2, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "restarts", Slot: 3, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
		}},
		7: {Name: "Diagnostic", Slots: 8, Cost: 176, Fields: []verify.Field{
			{Name: "code", Slot: 0, Kind: verify.KindString, Rules: verify.Required, MaxBytes: 255},
			{Name: "message", Slot: 1, Kind: verify.KindString, Rules: verify.Required},
			{Name: "stage", Slot: 2, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 6, ZeroDefault: true},
			{Name: "offset", Slot: 3, Kind: verify.KindScalar, Size: 4, Align: 4, ZeroDefault: true},
			{Name: "length", Slot: 4, Kind: verify.KindScalar, Size: 4, Align: 4, ZeroDefault: true},
			{Name: "hint", Slot: 5, Kind: verify.KindString},
			{Name: "expected", Slot: 6, Kind: verify.KindVector, Elem: verify.KindString},
			{Name: "related", Slot: 7, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 15},
		}},
		8: {Name: "DomainEntry", Slots: 2, Cost: 64, Fields: []verify.Field{
			{Name: "name", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "status", Slot: 1, Kind: verify.KindString, MaxBytes: 255},
		}},
		9: {Name: "DomainList", Slots: 1, Cost: 56, Fields: []verify.Field{
			{Name: "domains", Slot: 0, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 8},
		}},
		10: {Name: "Hello", Slots: 6, Cost: 128, Fields: []verify.Field{
			{Name: "protocol_min", Slot: 0, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "protocol_max", Slot: 1, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "user", Slot: 2, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "password", Slot: 3, Kind: verify.KindString, Rules: verify.Required, MaxBytes: 1024},
			{Name: "domain", Slot: 4, Kind: verify.KindString, MaxBytes: 255},
			{Name: "client", Slot: 5, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
		}},
		11: {Name: "HelloReply", Slots: 7, Cost: 152, Fields: []verify.Field{
			{Name: "node", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "incarnation", Slot: 1, Kind: verify.KindScalar, Size: 8, Align: 8, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "protocol_min", Slot: 2, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "protocol_max", Slot: 3, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "protocol", Slot: 4, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "features", Slot: 5, Kind: verify.KindVector, Elem: verify.KindString, Rules: verify.Canonical},
			{Name: "frame_limit", Slot: 6, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
		}},
		12: {Name: "Keepalive", Slots: 0, Cost: 32, Fields: []verify.Field{}},
		13: {Name: "ListDomainsRequest", Slots: 0, Cost: 32, Fields: []verify.Field{}},
		14: {Name: "OperationResult", Slots: 4, Cost: 104, Fields: []verify.Field{
			{Name: "number", Slot: 0, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "fate", Slot: 1, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 3, Rules: verify.Present, ZeroDefault: true},
			{Name: "text", Slot: 2, Kind: verify.KindString},
			{Name: "diagnostics", Slot: 3, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 7},
		}},
		15: {Name: "Related", Slots: 3, Cost: 80, Fields: []verify.Field{
			{Name: "name", Slot: 0, Kind: verify.KindString, Rules: verify.Required, MaxBytes: 255},
			{Name: "kind", Slot: 1, Kind: verify.KindScalar, Size: 2, Align: 2, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "domain", Slot: 2, Kind: verify.KindString, MaxBytes: 255},
		}},
		16: {Name: "RequestCancelled", Slots: 0, Cost: 32, Fields: []verify.Field{}},
		17: {Name: "RequestRejected", Slots: 3, Cost: 80, Fields: []verify.Field{
			{Name: "kind", Slot: 0, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 5, Rules: verify.Present, ZeroDefault: true},
			{Name: "field", Slot: 1, Kind: verify.KindString, MaxBytes: 255},
			{Name: "text", Slot: 2, Kind: verify.KindString},
		}},
		18: {Name: "ServerFrame", Identifier: IdentifierOfServerFrame, Slots: 3, Cost: 64, Fields: []verify.Field{
			{Name: "body", Slot: 1, Kind: verify.KindUnion, Ref: 1, Rules: verify.Required},
			{Name: "request_id", Slot: 2, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
		}},
		19: {Name: "SessionEnding", Slots: 3, Cost: 80, Fields: []verify.Field{
			{Name: "reason", Slot: 0, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 2, Rules: verify.Present, ZeroDefault: true},
			{Name: "text", Slot: 1, Kind: verify.KindString},
			{Name: "time_left_ms", Slot: 2, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
		}},
		20: {Name: "StatementResult", Slots: 5, Cost: 112, Fields: []verify.Field{
			{Name: "index", Slot: 0, Kind: verify.KindScalar, Size: 4, Align: 4, ZeroDefault: true},
			{Name: "disposition", Slot: 1, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 1, Rules: verify.Present, ZeroDefault: true},
			{Name: "text", Slot: 2, Kind: verify.KindString},
			{Name: "already_existed", Slot: 3, Kind: verify.KindBool, Size: 1, Align: 1, ZeroDefault: true},
			{Name: "data", Slot: 4, Kind: verify.KindString},
		}},
		21: {Name: "StatusReport", Slots: 5, Cost: 120, Fields: []verify.Field{
			{Name: "node", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "incarnation", Slot: 1, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "revision", Slot: 2, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "role", Slot: 3, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "connectors", Slot: 4, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 6},
		}},
		22: {Name: "StatusRequest", Slots: 0, Cost: 32, Fields: []verify.Field{}},
		23: {Name: "Transaction", Slots: 2, Cost: 64, Fields: []verify.Field{
			{Name: "state", Slot: 0, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 7, ZeroDefault: true},
			{Name: "reference", Slot: 1, Kind: verify.KindString, MaxBytes: 128},
		}},
	},
	Enums: []verify.Enum{
		0: {Name: "CancelResult", Flags: false, Values: []uint64{0x1, 0x2}},
		1: {Name: "Disposition", Flags: false, Values: []uint64{0x1, 0x2, 0x3}},
		2: {Name: "EndingReason", Flags: false, Values: []uint64{0x1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x8, 0x9}},
		3: {Name: "Fate", Flags: false, Values: []uint64{0x1, 0x2, 0x3}},
		4: {Name: "Format", Flags: false, Values: []uint64{0x1, 0x2}},
		5: {Name: "RejectKind", Flags: false, Values: []uint64{0x1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7}},
		6: {Name: "Stage", Flags: false, Values: []uint64{0x1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x8}},
		7: {Name: "TransactionState", Flags: false, Values: []uint64{0x0, 0x1, 0x2, 0x3, 0x4, 0x5, 0x6}},
		8: {Name: "UnknownCause", Flags: false, Values: []uint64{0x0, 0x1, 0x2, 0x3, 0x4}},
	},
	Unions: []verify.Union{
		0: {Name: "ClientBody", Tables: []verify.UnionCase{{Type: 1, Table: 10}, {Type: 2, Table: 4}, {Type: 3, Table: 13}, {Type: 4, Table: 22}, {Type: 5, Table: 1}, {Type: 6, Table: 12}}},
		1: {Name: "ServerBody", Tables: []verify.UnionCase{{Type: 1, Table: 11}, {Type: 2, Table: 3}, {Type: 3, Table: 9}, {Type: 4, Table: 21}, {Type: 5, Table: 0}, {Type: 6, Table: 17}, {Type: 7, Table: 16}, {Type: 8, Table: 19}, {Type: 9, Table: 12}}},
	},
}
