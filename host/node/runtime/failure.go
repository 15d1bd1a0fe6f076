// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/expr/construct"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// The words of error.code (nspl 9.5).
const (
	CodeEvaluation = "evaluation"
	CodeValidation = "validation"
	CodeExternal   = "external"
	CodeInternal   = "internal"
)

// The words of error.operation that nodes use themselves; constructions bring theirs (nspl 9.5).
const (
	OpDecode      = "decode"
	OpAdmit       = "admit"
	OpSourceWhere = "source_where"
	OpFilterWhere = "filter_where"
	OpEncode      = "encode"
	OpPublish     = "publish"
)

// Failure is one failed row. Reason holds no payload value.
type Failure struct {
	// Row is the row of the record the failure is about.
	Row       uint32
	Code      string
	Operation string
	// Index is error.operation_index, or construct.NoIndex.
	Index  int
	Fields []string
	Reason string
	// Class groups failures for counters: the kind of an evaluation failure, the reason of a codec.
	Class string
}

// Message is error.message: node, operation and reason, which begins with the kind of an evaluation failure (nspl 9.5).
func (f Failure) Message(node ident.Ref) string {
	return node.Kind.String() + " " + string(node.Name) + ": " + f.Operation + ": " + f.Reason
}

// Err is the failure as the reason of a negative acknowledgement.
func (f Failure) Err(node ident.Ref) error {
	return fault.New(f.faultCode(), f.Operation, node, f.Reason, nil)
}

// faultCode is the fault that stands for error.code.
func (f Failure) faultCode() fault.Code {
	switch f.Code {
	case CodeEvaluation:
		return fault.EvaluationFailed
	case CodeValidation:
		return fault.RowValidation
	case CodeExternal:
		return fault.RowExternal
	default:
		return fault.RowInternal
	}
}

// FromConstruct translates the failures of a construction.
func FromConstruct(dst []Failure, failures []construct.Failure) []Failure {
	for _, f := range failures {
		class, reason := f.Kind.String(), f.Kind.String()+": "+f.Reason
		if f.Kind == 0 {
			class, reason = string(f.Operation), f.Reason
		}
		dst = append(dst, Failure{
			Row: uint32(f.Row), Code: f.Code(), Operation: string(f.Operation), Index: f.Index, Fields: f.Fields, Reason: reason, Class: class,
		})
	}
	return dst
}

// FromPredicate translates the failures of a predicate.
func FromPredicate(dst []Failure, operation string, reads []string, failures *expr.Failures) []Failure {
	if failures == nil {
		return dst
	}
	for _, f := range failures.Rows {
		dst = append(dst, Failure{
			Row: uint32(f.Row), Code: CodeEvaluation, Operation: operation, Index: construct.NoIndex, Fields: reads,
			Reason: f.Kind.String() + ": " + f.Text, Class: f.Kind.String(),
		})
	}
	return dst
}
