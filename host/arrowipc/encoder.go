// SPDX-License-Identifier: Apache-2.0

package arrowipc

import (
	"encoding/binary"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"
)

// Node is length and null count of one field, in the order of the schema, parents first.
type Node struct{ Rows, Nulls int }

// Encoder writes record batch messages without copying values. It is reused: what a call returns is valid until the next call. It
// belongs to one caller at a time. The zero value is ready.
type Encoder struct {
	b       *flatbuffers.Builder
	nodes   []Node
	columns [][]byte
	parts   [][]byte
	head    []byte
	spare   [][]byte // scratch buffers for rebased offsets and shifted bits
	used    int
}

// Encode gives the encapsulated message of a batch as a list of parts to gather, and its length. The parts alias the batch's buffers,
// so the batch must be retained until they were written. A batch of a type that layoutOf refuses gives an error.
func (e *Encoder) Encode(batch arrow.RecordBatch) (parts [][]byte, size int, err error) {
	e.nodes, e.columns, e.used = e.nodes[:0], e.columns[:0], 0
	for i, c := range batch.Columns() {
		l, err := layoutOf(batch.Schema().Field(i), 0)
		if err != nil {
			return nil, 0, err
		}
		e.column(&l, c)
	}
	return e.finish(int(batch.NumRows()))
}

// EncodeRaw does the same for columns that the caller holds as bare buffers: nodes and buffers in the order of the schema, each buffer
// as IPC wants it (validity may be nil, offsets begin at 0 and have one more entry than rows).
func (e *Encoder) EncodeRaw(rows int, nodes []Node, buffers [][]byte) (parts [][]byte, size int, err error) {
	e.nodes = append(e.nodes[:0], nodes...)
	e.columns = append(e.columns[:0], buffers...)
	return e.finish(rows)
}

func (e *Encoder) finish(rows int) ([][]byte, int, error) {
	if e.b == nil {
		e.b = flatbuffers.NewBuilder(1024)
	}
	b := e.b
	b.Reset()
	body := int64(0)
	for _, c := range e.columns {
		body += int64(padded(len(c)))
	}
	at := body
	b.StartVector(16, len(e.columns), 8)
	for i := len(e.columns) - 1; i >= 0; i-- {
		n := len(e.columns[i])
		at -= int64(padded(n))
		b.Prep(8, 16)
		b.PrependInt64(int64(n))
		b.PrependInt64(at)
	}
	buffers := b.EndVector(len(e.columns))
	b.StartVector(16, len(e.nodes), 8)
	for i := len(e.nodes) - 1; i >= 0; i-- {
		b.Prep(8, 16)
		b.PrependInt64(int64(e.nodes[i].Nulls))
		b.PrependInt64(int64(e.nodes[i].Rows))
	}
	nodes := b.EndVector(len(e.nodes))
	b.StartObject(5)
	b.PrependInt64Slot(0, int64(rows), 0)
	b.PrependUOffsetTSlot(1, nodes, 0)
	b.PrependUOffsetTSlot(2, buffers, 0)
	header := b.EndObject()
	finishMessage(b, headerRecordBatch, header, body)
	e.head = appendEnvelope(e.head[:0], b.FinishedBytes())
	e.parts = append(e.parts[:0], e.head)
	for _, c := range e.columns {
		if len(c) == 0 {
			continue
		}
		e.parts = append(e.parts, c)
		if pad := padded(len(c)) - len(c); pad > 0 {
			e.parts = append(e.parts, zeros[:pad])
		}
	}
	return e.parts, len(e.head) + int(body), nil
}

func padded(n int) int { return (n + bufferAlign - 1) &^ (bufferAlign - 1) }

// scratch lends n bytes until the next Encode.
func (e *Encoder) scratch(n int) []byte {
	if e.used == len(e.spare) {
		e.spare = append(e.spare, nil)
	}
	if cap(e.spare[e.used]) < n {
		e.spare[e.used] = make([]byte, n+n/2)
	}
	s := e.spare[e.used][:n]
	e.used++
	return s
}

func (e *Encoder) column(l *layout, c arrow.Array) {
	data := c.Data()
	n, at, nulls := data.Len(), data.Offset(), c.NullN()
	e.nodes = append(e.nodes, Node{n, nulls})
	bufs := data.Buffers()
	if nulls == 0 {
		e.columns = append(e.columns, nil)
	} else {
		e.columns = append(e.columns, e.bits(bufs[0].Bytes(), at, n))
	}
	switch l.shape {
	case shapeFixed:
		e.columns = append(e.columns, window(bufs[1], at*l.width, n*l.width))
	case shapeBits:
		if n == 0 {
			e.columns = append(e.columns, nil)
		} else {
			e.columns = append(e.columns, e.bits(bufs[1].Bytes(), at, n))
		}
	case shapeBytes, shapeWide:
		size := 4
		if l.shape == shapeWide {
			size = 8
		}
		offsets, first, last := e.offsets(bufs[1], size, at, n)
		e.columns = append(e.columns, offsets, window(bufs[2], first, last-first))
	case shapeList:
		offsets, first, last := e.offsets(bufs[1], 4, at, n)
		e.columns = append(e.columns, offsets)
		e.child(l, 0, data, first, last)
	case shapeRuns:
		e.child(l, 0, data, at*l.width, (at+n)*l.width)
	case shapeStruct:
		for i := range l.children {
			e.child(l, i, data, at, at+n)
		}
	}
}

func (e *Encoder) child(l *layout, i int, data arrow.ArrayData, from, to int) {
	whole := data.Children()[i]
	part := array.NewSliceData(whole, int64(from), int64(to))
	arr := array.MakeFromData(part)
	e.column(&l.children[i], arr)
	arr.Release()
	part.Release()
}

// window is a range of a buffer that may be missing when it is empty.
func window(b *memory.Buffer, from, n int) []byte {
	if b == nil || n == 0 {
		return nil
	}
	return b.Bytes()[from : from+n]
}

// bits gives n bits from bit at on, beginning at bit 0.
func (e *Encoder) bits(b []byte, at, n int) []byte {
	if at%8 == 0 {
		return b[at/8 : at/8+(n+7)/8]
	}
	out := e.scratch((n + 7) / 8)
	clear(out)
	bitutil.CopyBitmap(b, at, n, out, 0)
	return out
}

// offsets gives n+1 offsets that begin at 0, and the range of values they named.
func (e *Encoder) offsets(b *memory.Buffer, size, at, n int) (out []byte, first, last int) {
	if n == 0 || b == nil || b.Len() == 0 {
		return nil, 0, 0
	}
	raw := b.Bytes()[at*size : (at+n+1)*size]
	first, last = offsetAt(raw, size, 0), offsetAt(raw, size, n)
	if first == 0 {
		return raw, first, last
	}
	out = e.scratch(len(raw))
	for i := 0; i <= n; i++ {
		v := offsetAt(raw, size, i) - first
		if size == 4 {
			binary.LittleEndian.PutUint32(out[4*i:], uint32(v))
		} else {
			binary.LittleEndian.PutUint64(out[8*i:], uint64(v))
		}
	}
	return out, first, last
}

// EndOfStream is the mark after the last message of a stream.
var EndOfStream = []byte{0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0}

// AsBytes views numbers as their bytes in memory, for EncodeRaw. Arrow IPC is little-endian, and so is every machine Nervix runs on.
func AsBytes[T int32 | int64 | uint64](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), len(v)*int(unsafe.Sizeof(v[0])))
}
