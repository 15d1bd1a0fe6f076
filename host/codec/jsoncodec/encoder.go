// SPDX-License-Identifier: Apache-2.0

package jsoncodec

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/codec"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// maxScalar bounds what a number, boolean or time takes when written; slack lets words be stored whole.
const (
	maxScalar = 40
	slack     = 32
)

// encoder implements codec.Encoder. All state but average belongs to one call.
type encoder struct {
	plan *Plan
	cols []source
	out  []byte
	buf  *memory.Buffer
	w    int
	// rowMost is the most a row takes without its texts.
	rowMost int
	// average is the size of a row last time, to begin with enough memory.
	average int
	bad     failure
}

// source is a column to be read, by the views its type has.
type source struct {
	array   arrow.Array
	nulls   bool
	u8      []uint8
	u16     []uint16
	u32     []uint32
	u64     []uint64
	offsets []int32
	text    []byte
}

// NewEncoder makes an encoder for one lane.
func (p *Plan) NewEncoder() codec.Encoder {
	e := &encoder{plan: p, cols: make([]source, len(p.fields)), rowMost: 2 + slack}
	for _, f := range p.fields {
		e.rowMost += len(f.prefix.text) + maxScalar
	}
	return e
}

// Encode implements codec.Encoder: one JSON object a row in wire order, null fields left out. NaN and infinities are an `encode` error
// of their row (Q52): JSON has no form for them, and one bad row never drops its batch (pains N06).
func (e *encoder) Encode(mem memory.Allocator, record arrow.RecordBatch, rows []int32) (codec.Encoded, error) {
	if err := e.bind(record); err != nil {
		return codec.Encoded{}, err
	}
	count := len(rows)
	if rows == nil {
		count = int(record.NumRows())
	}
	out := codec.Encoded{Rows: make([]int32, 0, count)}
	offsetBuf := memory.NewResizableBuffer(mem)
	offsetBuf.Resize(4 * (count + 1))
	offsets := arrow.Int32Traits.CastFromBytes(offsetBuf.Bytes())
	e.buf, e.out, e.w = memory.NewResizableBuffer(mem), nil, 0 // out is stale after a call that failed
	e.grow(count*(e.average+e.average/8) + e.rowMost)
	for n := range count {
		r := n
		if rows != nil {
			r = int(rows[n])
		}
		begin := e.w
		if !e.row(r) {
			e.w = begin
			out.Rejects = append(out.Rejects, e.reject(int32(r)))
			continue
		}
		if e.w > math.MaxInt32 {
			e.buf.Release()
			offsetBuf.Release()
			return codec.Encoded{}, fault.New(fault.CodecSize, "jsoncodec.Encode", ident.Ref{}, "the payloads of one batch would be beyond 2 GiB", nil)
		}
		out.Rows = append(out.Rows, int32(r))
		offsets[len(out.Rows)] = int32(e.w)
	}
	offsets[0] = 0
	good := len(out.Rows)
	if good > 0 {
		e.average = e.w / good
	}
	e.buf.ResizeNoShrink(e.w)
	offsetBuf.ResizeNoShrink(4 * (good + 1))
	data := array.NewData(arrow.BinaryTypes.Binary, good, []*memory.Buffer{nil, offsetBuf, e.buf}, nil, 0, 0)
	out.Payloads = array.NewBinaryData(data)
	data.Release()
	offsetBuf.Release()
	e.buf.Release()
	e.buf, e.out = nil, nil
	clear(e.cols)
	return out, nil
}

// bind takes the views of a record's columns.
func (e *encoder) bind(record arrow.RecordBatch) error {
	if int(record.NumCols()) != e.plan.schema.Len() {
		return fault.New(fault.CodecMisuse, "jsoncodec.Encode", ident.Ref{}, "the record has another number of columns than SCHEMA "+string(e.plan.schema.Name()), nil)
	}
	for i := range e.plan.fields {
		f, s := &e.plan.fields[i], &e.cols[i]
		a := record.Column(f.column)
		if want := e.plan.schema.Field(f.column).Type.Arrow(); !arrow.TypeEqual(a.DataType(), want) {
			return fault.New(fault.CodecMisuse, "jsoncodec.Encode", ident.Ref{}, "column "+f.name+" is "+a.DataType().String()+", not "+want.String(), nil)
		}
		*s = source{array: a, nulls: a.NullN() > 0}
		buffers, from, n := a.Data().Buffers(), a.Data().Offset(), a.Len()
		if f.op == opBool || n == 0 {
			continue
		}
		fixed := buffers[1].Bytes()
		switch f.op {
		case opString:
			s.offsets = arrow.Int32Traits.CastFromBytes(fixed)[from : from+n+1]
			if buffers[2] != nil {
				s.text = buffers[2].Bytes()
			}
		case opInt8:
			s.u8 = fixed[from : from+n]
		case opInt16:
			s.u16 = arrow.Uint16Traits.CastFromBytes(fixed)[from : from+n]
		case opInt32, opF32:
			s.u32 = arrow.Uint32Traits.CastFromBytes(fixed)[from : from+n]
		default:
			s.u64 = arrow.Uint64Traits.CastFromBytes(fixed)[from : from+n]
		}
	}
	return nil
}

// grow makes room for n more bytes.
func (e *encoder) grow(n int) {
	if e.w+n <= len(e.out) {
		return
	}
	e.buf.Resize(max(e.w+n, 2*len(e.out)))
	e.out = e.buf.Bytes()
}

// row writes one object. If it returns false, e.bad says why and the caller takes the partial row back.
func (e *encoder) row(r int) bool {
	if e.w+e.rowMost > len(e.out) {
		e.grow(e.rowMost)
	}
	begin := e.w
	for i := range e.plan.fields {
		f, c := &e.plan.fields[i], &e.cols[i]
		if c.nulls && c.array.IsNull(r) {
			continue
		}
		p := &f.prefix
		if len(p.text) <= 16 {
			store(e.out, e.w, p.w0)
			store(e.out, e.w+8, p.w1)
		} else {
			copy(e.out[e.w:], p.text)
		}
		e.w += len(p.text)
		if !e.value(f, c, i, r) {
			return false
		}
	}
	if e.w == begin {
		e.w++
	}
	e.out[begin] = '{' // in place of the first comma
	e.out[e.w] = '}'
	e.w++
	return true
}

func (e *encoder) value(f *field, c *source, index, r int) bool {
	switch f.op {
	case opString:
		return e.text(c.text, int(c.offsets[r]), int(c.offsets[r+1]), index)
	case opF64:
		return e.float64(math.Float64frombits(c.u64[r]), index)
	case opF32:
		return e.float32(math.Float32frombits(c.u32[r]), index)
	case opBool:
		if c.array.(*array.Boolean).Value(r) {
			e.w += copy(e.out[e.w:], "true")
		} else {
			e.w += copy(e.out[e.w:], "false")
		}
	case opDatetime:
		e.datetime(int64(c.u64[r]))
	case opInt64:
		e.integer(c.u64[r], f.signed && int64(c.u64[r]) < 0, false)
	case opInt32:
		e.narrow(uint64(c.u32[r]), 32, f.signed)
	case opInt16:
		e.narrow(uint64(c.u16[r]), 16, f.signed)
	case opInt8:
		e.narrow(uint64(c.u8[r]), 8, f.signed)
	}
	return true
}

// narrow writes an integer of fewer than 64 bits.
func (e *encoder) narrow(v uint64, width int, signed bool) {
	if signed {
		v = uint64(int64(v<<(64-width)) >> (64 - width))
	}
	e.integer(v, signed && int64(v) < 0, false)
}

// fail notes why a row cannot be written; it returns false so that it can end a function.
func (e *encoder) fail(index int, text string) bool {
	e.bad = failure{reason: codec.Unwritable, field: index, text: text}
	return false
}

func (e *encoder) reject(row int32) codec.Reject {
	return codec.Reject{Row: row, Reason: e.bad.reason, Text: "field \"" + e.plan.fields[e.bad.field].name + "\" " + e.bad.text}
}
