// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// Records says what a place of a definition can read. A nil schema means that the scope does not exist there.
type Records struct {
	// Place names the node kind in messages, for example `junction` or `ingestor`.
	Place string
	// Input is the original record.
	Input *types.Schema
	// Branch is the key of the concrete branch. It is nil in unbranched execution and in the success expressions of emitters.
	Branch *types.Schema
	// Metadata is what the source of an ingestor tells about a record (nspl 6.3).
	Metadata *types.Schema
}

// TransformScope is the scope of a transforming route while it is built: a Plan keeps one and marks output fields as they are set.
// Other places have their constructors: FilterScope, EmitterFilterScope, KeyScope, ErrorScope.
type TransformScope struct{ *scope }

// NewTransformScope starts a route with an empty output.
func NewTransformScope(rec Records, output *types.Schema) TransformScope {
	s := rec.scope()
	s.records[expr.RecordOutput] = output
	s.target, s.targetRecord = output, expr.RecordOutput
	s.set = make([]bool, output.Len())
	s.bare, s.message = readLive, readLive
	return TransformScope{s}
}

// Initialise marks an output field as set.
func (t TransformScope) Initialise(field int) { t.set[field] = true }

// GeneratedScope is the scope of a set-only route: bare and output read the record the node made, with the assignments so far. There is
// no message, and no input unless rec has one.
func GeneratedScope(rec Records, output *types.Schema) TransformScope {
	t := NewTransformScope(rec, output)
	for i := range t.set {
		t.set[i] = true
	}
	t.bare, t.message, t.generated = readTarget, readNone, true
	return t
}

// Finished is the scope of the route's WHERE: bare, output and, where it exists, message read the finished output, input still reads the
// original.
func (t TransformScope) Finished() expr.Scope {
	s := *t.scope
	s.set = make([]bool, s.target.Len())
	for i := range s.set {
		s.set[i] = true
	}
	s.bare = readTarget
	if s.message != readNone {
		s.message = readTarget
	}
	return &s
}

// FilterScope is the scope of a source WHERE and of FILTER WHERE: input and bare read the original record.
func FilterScope(rec Records) expr.Scope {
	s := rec.scope()
	s.bare = readInput
	return s
}

// EmitterFilterScope is FilterScope where message reads the original record too.
func EmitterFilterScope(rec Records) expr.Scope {
	s := rec.scope()
	s.bare, s.message = readInput, readInput
	return s
}

// KeyScope is the scope of BRANCHED BY .. SET: bare reads the key fields set so far, else as message, which is the finished output. The
// key is the record RecordTarget.
func KeyScope(rec Records, output, key *types.Schema) TransformScope {
	s := rec.scope()
	s.finished = output
	s.target, s.targetRecord = key, expr.RecordTarget
	s.set = make([]bool, key.Len())
	s.bare, s.message = readTargetThenOutput, readOutput
	return TransformScope{s}
}

// ErrorRecords is what the SET of ON MESSAGE ERROR SEND TO can read (nspl 9.5).
type ErrorRecords struct {
	Records
	// Output is the schema of the failed operation's output; partial_output has its fields, all optional. Nil: there is no output.
	Output *types.Schema
	// OptionalInput says that a row may have no input record, so that every input field may be null: it failed in decoding (nspl 9.4), or a
	// guest made it without a source token (Q39).
	OptionalInput bool
}

// ErrorScope is the scope of ON MESSAGE ERROR SEND TO .. SET: assignments may read earlier ones by bare name. The record under
// construction is RecordTarget.
func ErrorScope(rec ErrorRecords, target *types.Schema) TransformScope {
	s := rec.scope()
	if rec.OptionalInput && rec.Input != nil {
		s.records[expr.RecordInput] = optionalFields(rec.Input)
	}
	s.records[expr.RecordError] = ErrorSchema
	if rec.Output != nil {
		s.records[expr.RecordPartialOutput] = PartialSchema(rec.Output)
	}
	s.target, s.targetRecord = target, expr.RecordTarget
	s.set = make([]bool, target.Len())
	s.bare = readLive
	return TransformScope{s}
}

// PartialSchema is a schema with every field optional: what partial_output reads.
func PartialSchema(output *types.Schema) *types.Schema { return optionalFields(output) }

func optionalFields(s *types.Schema) *types.Schema {
	fields := append([]types.Field(nil), s.Fields()...)
	for i := range fields {
		fields[i].Optional = true
	}
	return types.NewSchema(s.Name(), fields)
}

// The columns of the error record, in the order of ErrorSchema.
const (
	ErrorReference = iota
	ErrorCode
	ErrorOperation
	ErrorOperationIndex
	ErrorFields
	ErrorOccurredAt
	ErrorMessage
)

// ErrorSchema is the record behind `error.f` (nspl 9.5).
var ErrorSchema = types.NewSchema("error", []types.Field{
	{Name: "reference", Type: types.Of(types.String)},
	{Name: "code", Type: types.Of(types.String)},
	{Name: "operation", Type: types.Of(types.String)},
	{Name: "operation_index", Type: types.Of(types.U32), Optional: true},
	{Name: "fields", Type: types.Type{Scalar: types.Vec, Elem: &types.Type{Scalar: types.String}}},
	{Name: "occurred_at", Type: types.Of(types.Datetime)},
	{Name: "message", Type: types.Of(types.String)},
})

// CheckFilter compiles a source WHERE or FILTER WHERE.
func CheckFilter(e ast.Expr, scope expr.Scope) (*expr.Program, fault.Diagnostics) {
	checked, faults := expr.CheckPredicate(e, scope, expr.Options{})
	if len(faults) > 0 {
		return nil, faults
	}
	return expr.Compile(checked), nil
}
