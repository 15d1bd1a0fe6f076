// SPDX-License-Identifier: Apache-2.0

// Code generated from control.fbs by host/wire/generate.sh. DO NOT EDIT.

package controlfb

import "github.com/nervix-go/nervix/host/wire/verify"

// The tables of Schema that are roots.
const (
	RootCommand          = 4
	IdentifierOfCommand  = "NXCC"
	RootResult           = 19
	IdentifierOfResult   = "NXCR"
	RootSnapshot         = 21
	IdentifierOfSnapshot = "NXCS"
)

// Schema describes control.fbs for the verifier.
var Schema = verify.Schema{
	Name: "controlfb",
	Tables: []verify.Table{
		0: {Name: "AppendStatement", Slots: 4, Cost: 104, Fields: []verify.Field{
			{Name: "transaction", Slot: 0, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 1, Align: 1, Rules: verify.Required},
			{Name: "position", Slot: 1, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "text", Slot: 2, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty},
			{Name: "grammar", Slot: 3, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
		}},
		1: {Name: "Assignment", Slots: 2, Cost: 64, Fields: []verify.Field{
			{Name: "key", Slot: 0, Kind: verify.KindTable, Ref: 11, Rules: verify.Required},
			{Name: "node", Slot: 1, Kind: verify.KindScalar, Size: 8, Align: 8, Rules: verify.Nonzero, ZeroDefault: true},
		}},
		2: {Name: "BeginTransaction", Slots: 0, Cost: 32, Fields: []verify.Field{}},
		3: {Name: "Bootstrap", Slots: 3, Cost: 88, Fields: []verify.Field{
			{Name: "cluster", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 64},
			{Name: "limits", Slot: 1, Kind: verify.KindTable, Ref: 12, Rules: verify.Required},
			{Name: "users", Slot: 2, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 31},
		}},
		4: {Name: "Command", Identifier: IdentifierOfCommand, Slots: 12, Cost: 224, Fields: []verify.Field{
			{Name: "user", Slot: 0, Kind: verify.KindString, Rules: verify.Required, MaxBytes: 255},
			{Name: "format", Slot: 1, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "utc_ns", Slot: 2, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "reference", Slot: 3, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 1, Align: 1},
			{Name: "domain", Slot: 4, Kind: verify.KindString, MaxBytes: 255},
			{Name: "digest", Slot: 5, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 1, Align: 1},
			{Name: "text", Slot: 6, Kind: verify.KindString},
			{Name: "pending", Slot: 7, Kind: verify.KindBool, Size: 1, Align: 1, ZeroDefault: true},
			{Name: "step", Slot: 8, Kind: verify.KindTable, Ref: 23},
			{Name: "concludes", Slot: 9, Kind: verify.KindTable, Ref: 6},
			{Name: "body", Slot: 11, Kind: verify.KindUnion, Rules: verify.Required},
		}},
		5: {Name: "Conclude", Slots: 0, Cost: 32, Fields: []verify.Field{}},
		6: {Name: "Conclusion", Slots: 2, Cost: 72, Fields: []verify.Field{
			{Name: "reference", Slot: 0, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 1, Align: 1, Rules: verify.Required},
			{Name: "outcome", Slot: 1, Kind: verify.KindTable, Ref: 15, Rules: verify.Required},
		}},
		7: {Name: "CreateDomain", Slots: 6, Cost: 128, Fields: []verify.Field{
			{Name: "name", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "text", Slot: 1, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty},
			{Name: "grammar", Slot: 2, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "pace", Slot: 3, Kind: verify.KindEnum, Size: 1, Align: 1},
			{Name: "placement", Slot: 4, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 1},
			{Name: "if_not_exists", Slot: 5, Kind: verify.KindBool, Size: 1, Align: 1, ZeroDefault: true},
		}},
		8: {Name: "Diagnostic", Slots: 8, Cost: 168, Fields: []verify.Field{
			{Name: "code", Slot: 0, Kind: verify.KindString, Rules: verify.Required},
			{Name: "stage", Slot: 1, Kind: verify.KindString},
			{Name: "message", Slot: 2, Kind: verify.KindString},
			{Name: "hint", Slot: 3, Kind: verify.KindString},
			{Name: "located", Slot: 4, Kind: verify.KindBool, Size: 1, Align: 1, ZeroDefault: true},
			{Name: "offset", Slot: 5, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "length", Slot: 6, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "related", Slot: 7, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 18},
		}},
		9: {Name: "DropDomain", Slots: 1, Cost: 48, Fields: []verify.Field{
			{Name: "name", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
		}},
		10: {Name: "DropUser", Slots: 1, Cost: 48, Fields: []verify.Field{
			{Name: "name", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
		}},
		11: {Name: "Key", Slots: 2, Cost: 64, Fields: []verify.Field{
			{Name: "name", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "kind", Slot: 1, Kind: verify.KindScalar, Size: 1, Align: 1, Rules: verify.Nonzero, ZeroDefault: true},
		}},
		12: {Name: "Limits", Slots: 8, Cost: 160, Fields: []verify.Field{
			{Name: "statements", Slot: 0, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "source_bytes", Slot: 1, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "open", Slot: 2, Kind: verify.KindScalar, Size: 4, Align: 4, ZeroDefault: true},
			{Name: "idle_ns", Slot: 3, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "tombstone_ns", Slot: 4, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "references", Slot: 5, Kind: verify.KindScalar, Size: 4, Align: 4, ZeroDefault: true},
			{Name: "open_source_bytes", Slot: 6, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "definition_bytes", Slot: 7, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
		}},
		13: {Name: "MutateModels", Slots: 5, Cost: 136, Fields: []verify.Field{
			{Name: "domain", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "base", Slot: 1, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "drops", Slot: 2, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 11},
			{Name: "puts", Slot: 3, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 16},
			{Name: "assign", Slot: 4, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 1},
		}},
		14: {Name: "NodeStarted", Slots: 4, Cost: 96, Fields: []verify.Field{
			{Name: "logical", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "node", Slot: 1, Kind: verify.KindScalar, Size: 8, Align: 8, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "incarnation", Slot: 2, Kind: verify.KindScalar, Size: 8, Align: 8, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "session", Slot: 3, Kind: verify.KindString, MaxBytes: 255},
		}},
		15: {Name: "Outcome", Slots: 6, Cost: 144, Fields: []verify.Field{
			{Name: "code", Slot: 0, Kind: verify.KindString, Rules: verify.Required},
			{Name: "text", Slot: 1, Kind: verify.KindString},
			{Name: "already_existed", Slot: 2, Kind: verify.KindBool, Size: 1, Align: 1, ZeroDefault: true},
			{Name: "transaction", Slot: 3, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 1, Align: 1},
			{Name: "position", Slot: 4, Kind: verify.KindScalar, Size: 4, Align: 4, ZeroDefault: true},
			{Name: "diagnostics", Slot: 5, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 8},
		}},
		16: {Name: "Put", Slots: 5, Cost: 120, Fields: []verify.Field{
			{Name: "key", Slot: 0, Kind: verify.KindTable, Ref: 11, Rules: verify.Required},
			{Name: "text", Slot: 1, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty},
			{Name: "grammar", Slot: 2, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "dependencies", Slot: 3, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 11},
			{Name: "capacity_only", Slot: 4, Kind: verify.KindBool, Size: 1, Align: 1, ZeroDefault: true},
		}},
		17: {Name: "PutUser", Slots: 3, Cost: 80, Fields: []verify.Field{
			{Name: "user", Slot: 0, Kind: verify.KindTable, Ref: 31, Rules: verify.Required},
			{Name: "alter", Slot: 1, Kind: verify.KindBool, Size: 1, Align: 1, ZeroDefault: true},
			{Name: "if_not_exists", Slot: 2, Kind: verify.KindBool, Size: 1, Align: 1, ZeroDefault: true},
		}},
		18: {Name: "Related", Slots: 3, Cost: 80, Fields: []verify.Field{
			{Name: "name", Slot: 0, Kind: verify.KindString, Rules: verify.Required, MaxBytes: 255},
			{Name: "kind", Slot: 1, Kind: verify.KindScalar, Size: 1, Align: 1, ZeroDefault: true},
			{Name: "domain", Slot: 2, Kind: verify.KindString, MaxBytes: 255},
		}},
		19: {Name: "Result", Identifier: IdentifierOfResult, Slots: 4, Cost: 96, Fields: []verify.Field{
			{Name: "outcome", Slot: 0, Kind: verify.KindTable, Ref: 15, Rules: verify.Required},
			{Name: "verdict", Slot: 1, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 4},
			{Name: "revision", Slot: 2, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "pending", Slot: 3, Kind: verify.KindBool, Size: 1, Align: 1, ZeroDefault: true},
		}},
		20: {Name: "SetTransactionState", Slots: 4, Cost: 104, Fields: []verify.Field{
			{Name: "transaction", Slot: 0, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 1, Align: 1, Rules: verify.Required},
			{Name: "to", Slot: 1, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 3},
			{Name: "failed_operation", Slot: 2, Kind: verify.KindScalar, Size: 4, Align: 4, ZeroDefault: true},
			{Name: "failure", Slot: 3, Kind: verify.KindTable, Ref: 15},
		}},
		21: {Name: "Snapshot", Identifier: IdentifierOfSnapshot, Slots: 11, Cost: 248, Fields: []verify.Field{
			{Name: "limits", Slot: 0, Kind: verify.KindTable, Ref: 12, Rules: verify.Required},
			{Name: "cluster", Slot: 1, Kind: verify.KindString, MaxBytes: 64},
			{Name: "revision", Slot: 2, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "now_ns", Slot: 3, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "fence_ms", Slot: 4, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "swept_minute", Slot: 5, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "nodes", Slot: 6, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 28},
			{Name: "domains", Slot: 7, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 26},
			{Name: "users", Slot: 8, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 31},
			{Name: "executions", Slot: 9, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 27},
			{Name: "transactions", Slot: 10, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 30},
		}},
		22: {Name: "Start", Slots: 4, Cost: 104, Fields: []verify.Field{
			{Name: "domain", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "base", Slot: 1, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "restart_positions", Slot: 2, Kind: verify.KindBool, Size: 1, Align: 1, ZeroDefault: true},
			{Name: "assign", Slot: 3, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 1},
		}},
		23: {Name: "Step", Slots: 2, Cost: 72, Fields: []verify.Field{
			{Name: "transaction", Slot: 0, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 1, Align: 1, Rules: verify.Required},
			{Name: "through", Slot: 1, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
		}},
		24: {Name: "Stop", Slots: 2, Cost: 64, Fields: []verify.Field{
			{Name: "domain", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "generation", Slot: 1, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
		}},
		25: {Name: "StoredDefinition", Slots: 6, Cost: 136, Fields: []verify.Field{
			{Name: "key", Slot: 0, Kind: verify.KindTable, Ref: 11, Rules: verify.Required},
			{Name: "text", Slot: 1, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty},
			{Name: "grammar", Slot: 2, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "dependencies", Slot: 3, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 11},
			{Name: "created", Slot: 4, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "changed", Slot: 5, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
		}},
		26: {Name: "StoredDomain", Slots: 13, Cost: 264, Fields: []verify.Field{
			{Name: "name", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "text", Slot: 1, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty},
			{Name: "grammar", Slot: 2, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "pace", Slot: 3, Kind: verify.KindEnum, Size: 1, Align: 1},
			{Name: "placement", Slot: 4, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 1},
			{Name: "status", Slot: 5, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 2},
			{Name: "generation", Slot: 6, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "position_epoch", Slot: 7, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "model", Slot: 8, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "created", Slot: 9, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "committing", Slot: 10, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 1, Align: 1},
			{Name: "definitions", Slot: 11, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 25},
			{Name: "schedule", Slot: 12, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 1},
		}},
		27: {Name: "StoredExecution", Slots: 7, Cost: 160, Fields: []verify.Field{
			{Name: "reference", Slot: 0, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 1, Align: 1, Rules: verify.Required},
			{Name: "owner", Slot: 1, Kind: verify.KindString, MaxBytes: 255},
			{Name: "domain", Slot: 2, Kind: verify.KindString, MaxBytes: 255},
			{Name: "digest", Slot: 3, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 1, Align: 1, Rules: verify.Required},
			{Name: "revision", Slot: 4, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "pending", Slot: 5, Kind: verify.KindBool, Size: 1, Align: 1, ZeroDefault: true},
			{Name: "outcome", Slot: 6, Kind: verify.KindTable, Ref: 15, Rules: verify.Required},
		}},
		28: {Name: "StoredNode", Slots: 4, Cost: 96, Fields: []verify.Field{
			{Name: "logical", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "node", Slot: 1, Kind: verify.KindScalar, Size: 8, Align: 8, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "incarnation", Slot: 2, Kind: verify.KindScalar, Size: 8, Align: 8, Rules: verify.Nonzero, ZeroDefault: true},
			{Name: "session", Slot: 3, Kind: verify.KindString, MaxBytes: 255},
		}},
		29: {Name: "StoredStatement", Slots: 2, Cost: 64, Fields: []verify.Field{
			{Name: "text", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty},
			{Name: "grammar", Slot: 1, Kind: verify.KindScalar, Size: 4, Align: 4, Rules: verify.Nonzero, ZeroDefault: true},
		}},
		30: {Name: "StoredTransaction", Slots: 15, Cost: 296, Fields: []verify.Field{
			{Name: "id", Slot: 0, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 1, Align: 1, Rules: verify.Required},
			{Name: "owner", Slot: 1, Kind: verify.KindString, MaxBytes: 255},
			{Name: "domain", Slot: 2, Kind: verify.KindString, MaxBytes: 255},
			{Name: "domain_created", Slot: 3, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "state", Slot: 4, Kind: verify.KindEnum, Size: 1, Align: 1, Ref: 3},
			{Name: "statements", Slot: 5, Kind: verify.KindVector, Elem: verify.KindTable, Ref: 29},
			{Name: "count", Slot: 6, Kind: verify.KindScalar, Size: 4, Align: 4, ZeroDefault: true},
			{Name: "source_bytes", Slot: 7, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "progress", Slot: 8, Kind: verify.KindScalar, Size: 4, Align: 4, ZeroDefault: true},
			{Name: "commit", Slot: 9, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 1, Align: 1},
			{Name: "failed_operation", Slot: 10, Kind: verify.KindScalar, Size: 4, Align: 4, ZeroDefault: true},
			{Name: "failure", Slot: 11, Kind: verify.KindTable, Ref: 15},
			{Name: "began_ns", Slot: 12, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "active_ns", Slot: 13, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
			{Name: "finished_ns", Slot: 14, Kind: verify.KindScalar, Size: 8, Align: 8, ZeroDefault: true},
		}},
		31: {Name: "User", Slots: 2, Cost: 64, Fields: []verify.Field{
			{Name: "name", Slot: 0, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 255},
			{Name: "phc", Slot: 1, Kind: verify.KindString, Rules: verify.Required | verify.Nonempty, MaxBytes: 512},
		}},
	},
	Enums: []verify.Enum{
		0: {Name: "Pace", Flags: false, Values: []uint64{0x1, 0x2}},
		1: {Name: "Placement", Flags: false, Values: []uint64{0x1, 0x2, 0x3, 0x4}},
		2: {Name: "Status", Flags: false, Values: []uint64{0x1, 0x2}},
		3: {Name: "TransactionState", Flags: false, Values: []uint64{0x1, 0x2, 0x3, 0x4, 0x5, 0x6}},
		4: {Name: "Verdict", Flags: false, Values: []uint64{0x1, 0x2, 0x3, 0x4}},
	},
	Unions: []verify.Union{
		0: {Name: "Body", Tables: []verify.UnionCase{{Type: 1, Table: 3}, {Type: 2, Table: 14}, {Type: 3, Table: 7}, {Type: 4, Table: 9}, {Type: 5, Table: 13}, {Type: 6, Table: 22}, {Type: 7, Table: 24}, {Type: 8, Table: 17}, {Type: 9, Table: 10}, {Type: 10, Table: 2}, {Type: 11, Table: 0}, {Type: 12, Table: 20}, {Type: 13, Table: 5}}},
	},
}
