// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// What one callback may bring about. The budgets of fuel and time bound a guest's work, not what it makes the host keep: an emit of 64 MiB costs a
// guest a few instructions, and a row that names a token is a few bytes that stand for a megabyte of the input.
const (
	maxGroups      = 1 << 16
	maxOutputBytes = 128 << 20 // of all messages of a callback
	maxCopiedBytes = 256 << 20 // of the columns made from them, beside what is shared
	maxTimeouts    = 1 << 16   // that wait, in one instance
)

// output is the validated output of one callback, ready to be dispatched.
type output struct {
	groups     []*protocol.Group
	selections [][]protocol.Selection
}

func (o *output) release() {
	for i, g := range o.groups {
		g.Release()
		o.groups[i] = nil
	}
	o.groups, o.selections = o.groups[:0], nil
}

func (s *state) outputFailure(err error) *Failure {
	return &Failure{Stage: protocol.StageOutput, Export: protocol.ExportReadEmit, Cause: err}
}

// validate judges all messages of a callback as a whole (W-109). After an error nothing of it is used.
func (s *state) validate(l *laneKit, messages [][]byte) *Failure {
	out := &l.out
	for _, message := range messages {
		decoded, err := protocol.DecodeOutput(message)
		if err != nil {
			out.release()
			return s.outputFailure(err)
		}
		group, err := l.contract.Bind(decoded)
		if err != nil {
			out.release()
			return s.outputFailure(err)
		}
		out.groups = append(out.groups, group)
	}
	selections, err := s.ledger.Check(out.groups)
	if err == nil {
		out.selections = selections
		err = s.checkSizes(out)
	}
	if err != nil {
		s.ledger.Forget()
		out.release()
		return s.outputFailure(err)
	}
	return nil
}

// checkSizes refuses output that would make the host copy without measure.
func (s *state) checkSizes(out *output) error {
	var total int64
	for i, g := range out.groups {
		for k := range g.Outputs {
			sel, bound := &out.selections[i][k], &g.Outputs[k]
			total += int64(sel.Count) * s.p.routes[bound.Route].rowBytes
			if sel.Class == protocol.SelectRows || sel.Class == protocol.SelectAcross {
				total += s.copiedBytes(sel, bound.Columns, maxCopiedBytes-total)
			}
			if total > maxCopiedBytes {
				return fault.New(fault.WasmOutput, "wasmproc.validate", ident.Ref{},
					fmt.Sprintf("the rows of one callback would take more than %d bytes beside the columns they share", int64(maxCopiedBytes)), nil)
			}
		}
	}
	return nil
}

// copiedBytes is the size of the text, bytes and lists in the input columns of a selection; it stops counting above most.
func (s *state) copiedBytes(sel *protocol.Selection, columns []protocol.Column, most int64) (total int64) {
	counted := make(map[uint32]bool)
	for _, c := range columns {
		if c.Source != protocol.Input || counted[c.Index] || !variable(s.p.plan.InputSchema.Arrow().Field(int(c.Index)).Type) {
			continue
		}
		counted[c.Index] = true
		for _, part := range s.stretches(sel) {
			column := part.in.record.Column(int(c.Index)).Data()
			for _, row := range part.rows {
				if total += rangeBytes(column, int(row), int(row)+1); total > most {
					return total
				}
			}
		}
	}
	return total
}

func variable(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.STRING, arrow.BINARY, arrow.LIST, arrow.FIXED_SIZE_LIST:
		return true
	default:
		return false
	}
}

// rangeBytes is the size of the values in a range of an array.
func rangeBytes(d arrow.ArrayData, from, to int) int64 {
	at := d.Offset()
	switch t := d.DataType().(type) {
	case *arrow.StringType, *arrow.BinaryType:
		first, last := offsetsOf(d, at+from, at+to)
		return int64(last-first) + 4
	case *arrow.ListType:
		first, last := offsetsOf(d, at+from, at+to)
		return 4 + rangeBytes(d.Children()[0], int(first), int(last))
	case *arrow.FixedSizeListType:
		n := int(t.Len())
		return rangeBytes(d.Children()[0], (at+from)*n, (at+to)*n)
	case arrow.FixedWidthDataType:
		return int64(to-from) * int64((t.BitWidth()+7)/8)
	default:
		return 0
	}
}

func offsetsOf(d arrow.ArrayData, from, to int) (first, last int32) {
	offsets := d.Buffers()[1]
	if offsets == nil || offsets.Len() == 0 {
		return 0, 0
	}
	all := arrow.Int32Traits.CastFromBytes(offsets.Bytes())
	return all[from], all[to]
}

// rowBytes is the fixed part of a row of a schema, or more than any limit.
func rowBytes(s *arrow.Schema) (total int64) {
	for _, f := range s.Fields() {
		total = min(total+fixedBytes(f.Type), maxCopiedBytes+1)
	}
	return total
}

func fixedBytes(t arrow.DataType) int64 {
	switch t := t.(type) {
	case *arrow.FixedSizeListType:
		return min(int64(t.Len())*fixedBytes(t.Elem()), maxCopiedBytes+1)
	case *arrow.StringType, *arrow.BinaryType, *arrow.ListType:
		return 4
	case arrow.FixedWidthDataType:
		return int64((t.BitWidth() + 7) / 8)
	default:
		return 8
	}
}
