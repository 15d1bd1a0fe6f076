// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

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
func (s *state) validate(l *laneKit, messages []*memory.Buffer) *Failure {
	out := &l.out
	for _, message := range messages {
		group, err := l.contract.Decode(message)
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

// copiedBytes is the size of the text and bytes in the input columns of a selection; it stops counting above most.
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
				if total += valueBytes(column, int(row)); total > most {
					return total
				}
			}
		}
	}
	return total
}

func variable(t arrow.DataType) bool { return t.ID() == arrow.STRING || t.ID() == arrow.BINARY }

// valueBytes is the size of a text or of bytes.
func valueBytes(d arrow.ArrayData, row int) int64 {
	offsets := arrow.Int32Traits.CastFromBytes(d.Buffers()[1].Bytes())[d.Offset()+row:]
	return int64(offsets[1] - offsets[0])
}

// rowBytes is the fixed part of a row of a schema.
func rowBytes(s *arrow.Schema) (total int64) {
	for _, f := range s.Fields() {
		if t, ok := f.Type.(arrow.FixedWidthDataType); ok {
			total += int64((t.BitWidth() + 7) / 8)
		} else {
			total += 4
		}
	}
	return total
}
