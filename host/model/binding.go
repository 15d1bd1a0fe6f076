// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// Key builds the concrete branch that `WHERE (field = literal, ..)` of DESCRIBE RELAY names: every key field exactly once (Q35). Integers
// fit any integer field in range, strings fit STRING and, as RFC 3339, DATETIME, TRUE and FALSE fit BOOL, NULL fits optional fields;
// nothing else fits. Defects without a place of their own are told at span, the name of the relay. No message repeats a value.
func (r *Relay) Key(bindings []ast.Binding, span fault.Span) (*batch.Key, fault.Diagnostics) {
	if r.Branch == nil {
		return nil, fault.Diagnostics{keyFault(span, object(r.Ref)+" is UNBRANCHED: it has no branches to describe", "leave out WHERE")}
	}
	schema := r.Branch.Schema
	var faults fault.Diagnostics
	bound := make([]*ast.Binding, schema.Len())
	for i := range bindings {
		one := &bindings[i]
		column, ok := schema.Index(one.Field.Name)
		switch {
		case !ok:
			faults = append(faults, keyFault(one.Field.Span, "BRANCH "+string(r.Branch.Ref.Name)+" has no key field "+string(one.Field.Name), expr.FieldHint(one.Field.Name, schema)))
		case bound[column] != nil:
			faults = append(faults, keyFault(one.Field.Span, "key field "+string(one.Field.Name)+" is bound twice", ""))
		default:
			bound[column] = one
		}
	}
	builder := array.NewRecordBuilder(memory.DefaultAllocator, schema.Arrow())
	defer builder.Release()
	for i, one := range bound {
		field := schema.Field(i)
		if one == nil {
			faults = append(faults, keyFault(span, "key field "+string(field.Name)+" is not bound", ""))
			continue
		}
		if problem := appendBinding(builder.Field(i), field, one); problem != "" {
			faults = append(faults, keyFault(one.Value.Span, "key field "+string(field.Name)+" "+problem,
				"integers, strings, RFC 3339 times in quotes, TRUE, FALSE, and NULL for optional fields"))
		}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	record := builder.NewRecordBatch()
	defer record.Release()
	form := batch.NewKeyForm(r.Branch.Ref.Name, schema)
	return form.Key(string(form.AppendText(nil, record.Columns(), 0)), record.Columns(), 0), nil
}

func keyFault(span fault.Span, message, hint string) fault.Diagnostic {
	if hint == "" {
		hint = "every key field is bound exactly once"
	}
	return fault.At(fault.StageCheck, fault.ModelKey, span, message, hint)
}

// appendBinding appends the value of one binding to its column; problem says why it does not fit.
func appendBinding(column array.Builder, field types.Field, b *ast.Binding) (problem string) {
	misfit := "is " + field.Type.String() + " and takes no such literal"
	if b.Value.Kind == ast.LiteralNull {
		if !field.Optional {
			return "is not optional and cannot be NULL"
		}
		column.AppendNull()
		return ""
	}
	switch scalar := field.Type.Scalar; {
	case scalar.Integer():
		if b.Value.Kind != ast.LiteralInt {
			return misfit
		}
		return appendInteger(column, scalar, b)
	case b.Negative:
		return misfit
	case scalar == types.String && b.Value.Kind == ast.LiteralString:
		column.(*array.StringBuilder).Append(b.Value.Text)
	case scalar == types.Bool && b.Value.Kind == ast.LiteralBool:
		column.(*array.BooleanBuilder).Append(b.Value.Bool)
	case scalar == types.Datetime && b.Value.Kind == ast.LiteralString:
		ns, ok := parseTime(b.Value.Text)
		if !ok {
			return "is DATETIME and needs an RFC 3339 time"
		}
		column.(*array.TimestampBuilder).Append(arrow.Timestamp(ns))
	default:
		return misfit
	}
	return ""
}

// appendInteger appends an integer of the column's width.
func appendInteger(column array.Builder, scalar types.Scalar, b *ast.Binding) (problem string) {
	text := strconv.FormatUint(b.Value.Int, 10)
	if b.Negative {
		text = "-" + text
	}
	_, err := strconv.ParseInt(text, 10, scalar.Bits())
	if !scalar.Signed() {
		_, err = strconv.ParseUint(strings.TrimPrefix(text, "-"), 10, scalar.Bits())
		if b.Negative && b.Value.Int != 0 {
			return "is " + scalar.String() + " and cannot be negative"
		}
		text = strings.TrimPrefix(text, "-")
	}
	if err != nil {
		return "is " + scalar.String() + " and the number is out of its range"
	}
	if err := column.AppendValueFromString(text); err != nil {
		return "is " + scalar.String() + " and the number is out of its range"
	}
	return ""
}

// parseTime reads an RFC 3339 time that fits signed nanoseconds.
func parseTime(text string) (ns int64, ok bool) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Before(time.Unix(0, math.MinInt64)) || t.After(time.Unix(0, math.MaxInt64)) {
		return 0, false
	}
	return t.UnixNano(), true
}
