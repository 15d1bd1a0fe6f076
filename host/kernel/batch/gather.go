// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// gatherColumn copies the chosen rows of column c of every piece into one array of rows values.
func gatherColumn(t arrow.DataType, c int, pieces []Piece, rows int, alloc memory.Allocator) arrow.Array {
	validity, nulls := gatherValidity(c, pieces, rows, alloc)
	var buffers []*memory.Buffer
	switch t.ID() {
	case arrow.BOOL:
		buffers = []*memory.Buffer{validity, gatherBits(c, pieces, rows, alloc)}
	case arrow.STRING, arrow.BINARY:
		offsets, values := gatherBinary(c, pieces, rows, alloc)
		buffers = []*memory.Buffer{validity, offsets, values}
	default:
		width, ok := t.(arrow.FixedWidthDataType)
		if !ok {
			panic("batch: no gather for columns of type " + t.String())
		}
		buffers = []*memory.Buffer{validity, gatherFixed(c, pieces, rows, width.BitWidth()/8, alloc)}
	}
	data := array.NewData(t, rows, buffers, nil, nulls, 0)
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	out := array.MakeFromData(data)
	data.Release()
	return out
}

// TakeColumn copies the chosen rows of one column.
func TakeColumn(column arrow.Array, rows []int32, alloc memory.Allocator) arrow.Array {
	schema := arrow.NewSchema([]arrow.Field{{Name: "c", Type: column.DataType(), Nullable: true}}, nil)
	record := array.NewRecordBatch(schema, []arrow.Array{column}, int64(column.Len()))
	defer record.Release()
	chosen := make([]uint32, len(rows))
	for i, r := range rows {
		chosen[i] = uint32(r)
	}
	return gatherColumn(column.DataType(), 0, []Piece{{Record: record, Rows: chosen}}, len(rows), alloc)
}

func newBuffer(n int, alloc memory.Allocator) *memory.Buffer {
	b := memory.NewResizableBuffer(alloc)
	b.Resize(n)
	return b
}

func gatherValidity(c int, pieces []Piece, rows int, alloc memory.Allocator) (*memory.Buffer, int) {
	any := false
	for i := range pieces {
		any = any || pieces[i].Record.Column(c).NullN() > 0
	}
	if !any {
		return nil, 0
	}
	b := newBuffer(int(bitutil.BytesForBits(int64(rows))), alloc)
	bits := b.Bytes()
	clear(bits)
	at, nulls := 0, 0
	for i := range pieces {
		column := pieces[i].Record.Column(c)
		for r := range pieces[i].Len() {
			row := r
			if pieces[i].Rows != nil {
				row = int(pieces[i].Rows[r])
			}
			if column.IsValid(row) {
				bitutil.SetBit(bits, at)
			} else {
				nulls++
			}
			at++
		}
	}
	return b, nulls
}

func gatherBits(c int, pieces []Piece, rows int, alloc memory.Allocator) *memory.Buffer {
	b := newBuffer(int(bitutil.BytesForBits(int64(rows))), alloc)
	bits := b.Bytes()
	clear(bits)
	at := 0
	for i := range pieces {
		if pieces[i].Len() == 0 {
			continue // an array without rows may have no buffers
		}
		data := pieces[i].Record.Column(c).Data()
		src, offset := data.Buffers()[1].Bytes(), data.Offset()
		for r := range pieces[i].Len() {
			row := r
			if pieces[i].Rows != nil {
				row = int(pieces[i].Rows[r])
			}
			if bitutil.BitIsSet(src, offset+row) {
				bitutil.SetBit(bits, at)
			}
			at++
		}
	}
	return b
}

func gatherFixed(c int, pieces []Piece, rows, width int, alloc memory.Allocator) *memory.Buffer {
	b := newBuffer(rows*width, alloc)
	dst := b.Bytes()
	for i := range pieces {
		if pieces[i].Len() == 0 {
			continue // an array without rows may have no buffers
		}
		data := pieces[i].Record.Column(c).Data()
		src := data.Buffers()[1].Bytes()[data.Offset()*width:]
		if pieces[i].Rows == nil {
			dst = dst[copy(dst, src[:data.Len()*width]):]
			continue
		}
		dst = dst[copyFixed(dst, src, pieces[i].Rows, width):]
	}
	return b
}

func copyFixed(dst, src []byte, rows []uint32, width int) int {
	switch width {
	case 8:
		d, s := arrow.Int64Traits.CastFromBytes(dst), arrow.Int64Traits.CastFromBytes(src)
		for i, r := range rows {
			d[i] = s[r]
		}
	case 4:
		d, s := arrow.Int32Traits.CastFromBytes(dst), arrow.Int32Traits.CastFromBytes(src)
		for i, r := range rows {
			d[i] = s[r]
		}
	default:
		for i, r := range rows {
			copy(dst[i*width:(i+1)*width], src[int(r)*width:])
		}
	}
	return len(rows) * width
}

func gatherBinary(c int, pieces []Piece, rows int, alloc memory.Allocator) (offsets, values *memory.Buffer) {
	offsets = newBuffer((rows+1)*4, alloc)
	out := arrow.Int32Traits.CastFromBytes(offsets.Bytes())
	values = newBuffer(binaryBytes(c, pieces), alloc)
	dst := values.Bytes()
	at, n := 0, int32(0)
	out[0] = 0
	for i := range pieces {
		src, o := binaryParts(pieces[i].Record.Column(c))
		if pieces[i].Rows == nil {
			first := o[0]
			copy(dst[n:], src[first:o[len(o)-1]])
			for _, end := range o[1:] {
				at++
				out[at] = n + end - first
			}
			n = out[at]
			continue
		}
		for _, r := range pieces[i].Rows {
			n += int32(copy(dst[n:], src[o[r]:o[r+1]]))
			at++
			out[at] = n
		}
	}
	return offsets, values
}

// binaryParts gives the value bytes and the len+1 offsets of a STRING or BINARY array.
func binaryParts(a arrow.Array) ([]byte, []int32) {
	data := a.Data()
	if data.Len() == 0 {
		return nil, []int32{0}
	}
	offsets := arrow.Int32Traits.CastFromBytes(data.Buffers()[1].Bytes())
	var values []byte
	if v := data.Buffers()[2]; v != nil {
		values = v.Bytes()
	}
	return values, offsets[data.Offset() : data.Offset()+data.Len()+1]
}

func binaryBytes(c int, pieces []Piece) int {
	total := 0
	for i := range pieces {
		_, o := binaryParts(pieces[i].Record.Column(c))
		if pieces[i].Rows == nil {
			total += int(o[len(o)-1] - o[0])
			continue
		}
		for _, r := range pieces[i].Rows {
			total += int(o[r+1] - o[r])
		}
	}
	return total
}
