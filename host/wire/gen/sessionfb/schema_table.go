// SPDX-License-Identifier: Apache-2.0

// Code generated from session.fbs by host/wire/generate.sh. DO NOT EDIT.

package sessionfb

import "github.com/nervix-go/nervix/host/wire/verify"

// The tables of Schema that are roots.
const (
	RootClientFrame               = 3
	IdentifierOfClientFrame       = "NXCM"
	RootServerFrame               = 26
	IdentifierOfServerFrame       = "NXSM"
	RootUploadClientFrame         = 34
	IdentifierOfUploadClientFrame = "NXUM"
	RootUploadServerFrame         = 38
	IdentifierOfUploadServerFrame = "NXUR"
)

// Schema describes session.fbs for the verifier.
var Schema = verify.Schema{
	Name: "sessionfb",
	Tables: []verify.Table{
		0: {Name: "AttachDomainClockRequest", Slots: 1, Cost: 48, Fields: []verify.Field{
			{Name: "domain", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
		}},
		1: {Name: "CancelOutcome", Slots: 1, Cost: 48, Fields: []verify.Field{
			{Name: "result", Slot: 0, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 2, Rules: verify.Present, ZeroDefault: true},
		}},
		2: {Name: "CancelRequest", Slots: 1, Cost: 48, Fields: []verify.Field{
			{Name: "target", Slot: 0, Kind: verify.KindScalar, Size: 8, Align: 8, Rules: verify.Nonzero, ZeroDefault: true},
		}},
		3: {Name: "ClientFrame", Identifier: IdentifierOfClientFrame, Slots: 3, Cost: 64, Fields: []verify.Field{
			{Name: "body", Slot: 1, Kind: verify.KindUnion, Rules: verify.Required},
			{Name: "request_id", Slot: 2, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
		}},
		4: {Name: "CommandOutcome", Slots: 12, Cost: 240, Fields: []verify.Field{
			{Name: "disposition", Slot: 0, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 5, Rules: verify.Present, ZeroDefault: true},
			{Name: "reference", Slot: 1, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 128},
			{Name: "already_existed", Slot: 2, Kind: verify.KindBool, Size: 1, Align: 1, ZeroDefault: true},
			{Name: "recovered", Slot: 3, Kind: verify.KindBool, Size: 1, Align: 1, ZeroDefault: true},
			{Name: "text", Slot: 4, Kind: verify.KindString},
			{Name: "data", Slot: 5, Kind: verify.KindString},
			{Name: "statements", Slot: 6, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 28},
			{Name: "diagnostics", Slot: 7, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 9},
			{Name: "domain", Slot: 8, Kind: verify.KindString, MaxBytes: 255},
			{Name: "transaction", Slot: 9, Kind: verify.KindTable, Ref: 31},
			{Name: "unknown_cause", Slot: 10, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 13, ZeroDefault: true},
			{Name: "commit", Slot: 11, Kind: verify.KindTable, Ref: 6},
		}},
		5: {Name: "CommandRequest", Slots: 4, Cost: 96, Fields: []verify.Field{
			{Name: "reference", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 128},
			{Name: "domain", Slot: 1, Kind: verify.KindString, MaxBytes: 255},
			{Name: "text", Slot: 2, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty},
			{Name: "format", Slot: 3, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 8, Rules: verify.Present, ZeroDefault: true},
		}},
		6: {Name: "CommitReport", Slots: 3, Cost: 88, Fields: []verify.Field{
			{Name: "applied", Slot: 0, Kind: verify.KindScalar, Size: 4, Align: 4, ZeroDefault: true},
			{Name: "failed", Slot: 1, Kind: verify.KindScalar, Size: 4, Align: 4, ZeroDefault: true},
			{Name: "operations", Slot: 2, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 22},
		}},
		7: {Name: "ConnectorStatus", Slots: 4, Cost: 96, Fields: []verify.Field{
			{Name: "kind", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "pid", Slot: 1, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "state", Slot: 2, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "restarts", Slot: 3, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
		}},
		8: {Name: "DetachDomainClockRequest", Slots: 1, Cost: 48, Fields: []verify.Field{
			{Name: "domain", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
		}},
		9: {Name: "Diagnostic", Slots: 8, Cost: 176, Fields: []verify.Field{
			{Name: "code", Slot: 0, Kind: verify.KindString, Rules: verify.Required, MaxBytes: 255},
			{Name: "message", Slot: 1, Kind: verify.KindString, Rules: verify.Required},
			{Name: "stage", Slot: 2, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 11, ZeroDefault: true},
			{Name: "offset", Slot: 3, Kind: verify.KindScalar, Size: 4, Align: 4, ZeroDefault: true},
			{Name: "length", Slot: 4, Kind: verify.KindScalar, Size: 4, Align: 4, ZeroDefault: true},
			{Name: "hint", Slot: 5, Kind: verify.KindString},
			{Name: "expected", Slot: 6, Kind: verify.KindVector, Elem: verify.KindString},
			{Name: "related", Slot: 7, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 23},
		}},
		10: {Name: "DomainClockAttachOutcome", Slots: 6, Cost: 128, Fields: []verify.Field{
			{Name: "disposition", Slot: 0, Kind: verify.KindEnum, Size: 1, Align: 1, Rules: verify.Present, ZeroDefault: true},
			{Name: "domain", Slot: 1, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "clock", Slot: 2, Kind: verify.KindTable, Ref: 21},
			{Name: "code", Slot: 3, Kind: verify.KindString, MaxBytes: 255},
			{Name: "text", Slot: 4, Kind: verify.KindString},
			{Name: "hint", Slot: 5, Kind: verify.KindString},
		}},
		11: {Name: "DomainClockAttachmentEnded", Slots: 2, Cost: 64, Fields: []verify.Field{
			{Name: "reason", Slot: 0, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 1, Rules: verify.Present, ZeroDefault: true},
			{Name: "domain", Slot: 1, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
		}},
		12: {Name: "DomainClockDetachOutcome", Slots: 5, Cost: 112, Fields: []verify.Field{
			{Name: "disposition", Slot: 0, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 4, Rules: verify.Present, ZeroDefault: true},
			{Name: "domain", Slot: 1, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "code", Slot: 2, Kind: verify.KindString, MaxBytes: 255},
			{Name: "text", Slot: 3, Kind: verify.KindString},
			{Name: "hint", Slot: 4, Kind: verify.KindString},
		}},
		13: {Name: "DomainClockObserved", Slots: 2, Cost: 64, Fields: []verify.Field{
			{Name: "domain", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "clock", Slot: 1, Kind: verify.KindTable, Ref: 21, Rules: verify.Required},
		}},
		14: {Name: "DomainClockTicked", Slots: 6, Cost: 128, Fields: []verify.Field{
			{Name: "domain", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "generation", Slot: 1, Kind: verify.KindScalar, Size: 8, Align: 8, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "id", Slot: 2, Kind: verify.KindScalar, Size: 8, Align: 8, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "boundary_ns", Slot: 3, Kind: verify.KindScalar, Size: 8, Align: 8, Rules: verify.Present, ZeroDefault: true},
			{Name: "authority_utc_ns", Slot: 4, Kind: verify.KindScalar, Size: 8, Align: 8, Rules: verify.Present, ZeroDefault: true},
			{Name: "node_logical_ns", Slot: 5, Kind: verify.KindScalar, Size: 8, Align: 8, Rules: verify.Present, ZeroDefault: true},
		}},
		15: {Name: "DomainEntry", Slots: 6, Cost: 128, Fields: []verify.Field{
			{Name: "name", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "status", Slot: 1, Kind: verify.KindString, MaxBytes: 255},
			{Name: "pace", Slot: 2, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 9, ZeroDefault: true},
			{Name: "period_ns", Slot: 3, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "skew_ns", Slot: 4, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "start_version", Slot: 5, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
		}},
		16: {Name: "DomainList", Slots: 1, Cost: 56, Fields: []verify.Field{
			{Name: "domains", Slot: 0, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 15},
		}},
		17: {Name: "Hello", Slots: 6, Cost: 128, Fields: []verify.Field{
			{Name: "protocol_min", Slot: 0, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "protocol_max", Slot: 1, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "user", Slot: 2, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "password", Slot: 3, Kind: verify.KindString, Rules: verify.Required, MaxBytes: 1024},
			{Name: "domain", Slot: 4, Kind: verify.KindString, MaxBytes: 255},
			{Name: "client", Slot: 5, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
		}},
		18: {Name: "HelloReply", Slots: 7, Cost: 152, Fields: []verify.Field{
			{Name: "node", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "incarnation", Slot: 1, Kind: verify.KindScalar, Size: 8, Align: 8, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "protocol_min", Slot: 2, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "protocol_max", Slot: 3, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "protocol", Slot: 4, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "features", Slot: 5, Kind: verify.KindVector, Elem: verify.KindString, Rules: verify.Canonical},
			{Name: "frame_limit", Slot: 6, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
		}},
		19: {Name: "Keepalive", Slots: 0, Cost: 32, Fields: []verify.Field{}},
		20: {Name: "ListDomainsRequest", Slots: 0, Cost: 32, Fields: []verify.Field{}},
		21: {Name: "ObservedClock", Slots: 7, Cost: 144, Fields: []verify.Field{
			{Name: "state", Slot: 0, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 3, Rules: verify.Present, ZeroDefault: true},
			{Name: "generation", Slot: 1, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "period_ns", Slot: 2, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "skew_ns", Slot: 3, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "logical_start_ns", Slot: 4, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "wall_started_at_ns", Slot: 5, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "time_rate", Slot: 6, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
		}},
		22: {Name: "OperationResult", Slots: 4, Cost: 104, Fields: []verify.Field{
			{Name: "number", Slot: 0, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "fate", Slot: 1, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 7, Rules: verify.Present, ZeroDefault: true},
			{Name: "text", Slot: 2, Kind: verify.KindString},
			{Name: "diagnostics", Slot: 3, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 9},
		}},
		23: {Name: "Related", Slots: 3, Cost: 80, Fields: []verify.Field{
			{Name: "name", Slot: 0, Kind: verify.KindString, Rules: verify.Required, MaxBytes: 255},
			{Name: "kind", Slot: 1, Kind: verify.KindScalar, Size: 2, Align: 2, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "domain", Slot: 2, Kind: verify.KindString, MaxBytes: 255},
		}},
		24: {Name: "RequestCancelled", Slots: 0, Cost: 32, Fields: []verify.Field{}},
		25: {Name: "RequestRejected", Slots: 3, Cost: 80, Fields: []verify.Field{
			{Name: "kind", Slot: 0, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 10, Rules: verify.Present, ZeroDefault: true},
			{Name: "field", Slot: 1, Kind: verify.KindString, MaxBytes: 255},
			{Name: "text", Slot: 2, Kind: verify.KindString},
		}},
		26: {Name: "ServerFrame", Identifier: IdentifierOfServerFrame, Slots: 3, Cost: 64, Fields: []verify.Field{
			{Name: "body", Slot: 1, Kind: verify.KindUnion, Ref: 1, Rules: verify.Required},
			{Name: "request_id", Slot: 2, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
		}},
		27: {Name: "SessionEnding", Slots: 3, Cost: 80, Fields: []verify.Field{
			{Name: "reason", Slot: 0, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 6, Rules: verify.Present, ZeroDefault: true},
			{Name: "text", Slot: 1, Kind: verify.KindString},
			{Name: "time_left_ms", Slot: 2, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
		}},
		28: {Name: "StatementResult", Slots: 5, Cost: 112, Fields: []verify.Field{
			{Name: "index", Slot: 0, Kind: verify.KindScalar, Size: 4, Align: 4, ZeroDefault: true},
			{Name: "disposition", Slot: 1, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 5, Rules: verify.Present, ZeroDefault: true},
			{Name: "text", Slot: 2, Kind: verify.KindString},
			{Name: "already_existed", Slot: 3, Kind: verify.KindBool, Size: 1, Align: 1, ZeroDefault: true},
			{Name: "data", Slot: 4, Kind: verify.KindString},
		}},
		29: {Name: "StatusReport", Slots: 5, Cost: 120, Fields: []verify.Field{
			{Name: "node", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "incarnation", Slot: 1, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "revision", Slot: 2, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "role", Slot: 3, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "connectors", Slot: 4, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 7},
		}},
		30: {Name: "StatusRequest", Slots: 0, Cost: 32, Fields: []verify.Field{}},
		31: {Name: "Transaction", Slots: 2, Cost: 64, Fields: []verify.Field{
			{Name: "state", Slot: 0, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 12, ZeroDefault: true},
			{Name: "reference", Slot: 1, Kind: verify.KindString, MaxBytes: 128},
		}},
		32: {Name: "UploadAccepted", Slots: 1, Cost: 48, Fields: []verify.Field{
			{Name: "version", Slot: 0, Kind: verify.KindScalar, Size: 8, Align: 8, Rules: verify.Nonzero, ZeroDefault: true},
		}},
		33: {Name: "UploadChunk", Slots: 1, Cost: 56, Fields: []verify.Field{
			{Name: "bytes", Slot: 0, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 1, Align: 1, Rules: verify.Required | verify.Nonempty},
		}},
		34: {Name: "UploadClientFrame", Identifier: IdentifierOfUploadClientFrame, Slots: 2, Cost: 48, Fields: []verify.Field{
			{Name: "body", Slot: 1, Kind: verify.KindUnion, Ref: 2, Rules: verify.Required},
		}},
		35: {Name: "UploadEnd", Slots: 2, Cost: 72, Fields: []verify.Field{
			{Name: "digest", Slot: 0, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 1, Align: 1, Rules: verify.Required | verify.Nonempty},
			{Name: "archive_bytes", Slot: 1, Kind: verify.KindScalar, Size: 8, Align: 8, Rules: verify.Nonzero, ZeroDefault: true},
		}},
		36: {Name: "UploadOpen", Slots: 3, Cost: 80, Fields: []verify.Field{
			{Name: "reference", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 128},
			{Name: "domain", Slot: 1, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "resource", Slot: 2, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
		}},
		37: {Name: "UploadResult", Slots: 5, Cost: 112, Fields: []verify.Field{
			{Name: "disposition", Slot: 0, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 5, Rules: verify.Present, ZeroDefault: true},
			{Name: "version", Slot: 1, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "code", Slot: 2, Kind: verify.KindString, MaxBytes: 255},
			{Name: "text", Slot: 3, Kind: verify.KindString},
			{Name: "hint", Slot: 4, Kind: verify.KindString},
		}},
		38: {Name: "UploadServerFrame", Identifier: IdentifierOfUploadServerFrame, Slots: 2, Cost: 48, Fields: []verify.Field{
			{Name: "body", Slot: 1, Kind: verify.KindUnion, Ref: 3, Rules: verify.Required},
		}},
	},
	Enums: []verify.Enum{
		0:  {Name: "AttachDisposition", Flags: false, Values: []uint64{0x1, 0x2, 0x3, 0x4}},
		1:  {Name: "AttachmentEnd", Flags: false, Values: []uint64{0x1}},
		2:  {Name: "CancelResult", Flags: false, Values: []uint64{0x1, 0x2}},
		3:  {Name: "ClockState", Flags: false, Values: []uint64{0x1, 0x2, 0x3, 0x4}},
		4:  {Name: "DetachDisposition", Flags: false, Values: []uint64{0x1, 0x2, 0x3}},
		5:  {Name: "Disposition", Flags: false, Values: []uint64{0x1, 0x2, 0x3}},
		6:  {Name: "EndingReason", Flags: false, Values: []uint64{0x1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x8, 0x9}},
		7:  {Name: "Fate", Flags: false, Values: []uint64{0x1, 0x2, 0x3}},
		8:  {Name: "Format", Flags: false, Values: []uint64{0x1, 0x2}},
		9:  {Name: "Pace", Flags: false, Values: []uint64{0x0, 0x1, 0x2}},
		10: {Name: "RejectKind", Flags: false, Values: []uint64{0x1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7}},
		11: {Name: "Stage", Flags: false, Values: []uint64{0x1, 0x2, 0x3, 0x4, 0x5, 0x6, 0x7, 0x8}},
		12: {Name: "TransactionState", Flags: false, Values: []uint64{0x0, 0x1, 0x2, 0x3, 0x4, 0x5, 0x6}},
		13: {Name: "UnknownCause", Flags: false, Values: []uint64{0x0, 0x1, 0x2, 0x3, 0x4}},
	},
	Unions: []verify.Union{
		0: {Name: "ClientBody", Tables: []verify.UnionCase{{Type: 1, Table: 17}, {Type: 2, Table: 5}, {Type: 3, Table: 20}, {Type: 4, Table: 30}, {Type: 5, Table: 2}, {Type: 6, Table: 19}, {Type: 7, Table: 0}, {Type: 8, Table: 8}}},
		1: {Name: "ServerBody", Tables: []verify.UnionCase{{Type: 1, Table: 18}, {Type: 2, Table: 4}, {Type: 3, Table: 16}, {Type: 4, Table: 29}, {Type: 5, Table: 1}, {Type: 6, Table: 25}, {Type: 7, Table: 24}, {Type: 8, Table: 27}, {Type: 9, Table: 19}, {Type: 10, Table: 10}, {Type: 11, Table: 12}, {Type: 12, Table: 13}, {Type: 13, Table: 14}, {Type: 14, Table: 11}}},
		2: {Name: "UploadClientBody", Tables: []verify.UnionCase{{Type: 1, Table: 36}, {Type: 2, Table: 33}, {Type: 3, Table: 35}}},
		3: {Name: "UploadServerBody", Tables: []verify.UnionCase{{Type: 1, Table: 32}, {Type: 2, Table: 37}}},
	},
}
