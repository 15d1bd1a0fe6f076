// SPDX-License-Identifier: Apache-2.0

package jsoncodec

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// column is one Arrow column in the making. Rows are written at an index, so writing a row again is the rollback of a rejected one.
type column struct {
	fixed    *memory.Buffer // values of a fixed width, or the offsets of texts
	text     *memory.Buffer // the bytes of texts
	validity *memory.Buffer
	data     []byte // fixed, as bytes
	valid    []byte // the bitmap of an optional column; nil for a required one
	// Views of fixed by width.
	u16 []uint16
	u32 []uint32
	u64 []uint64
	// spans are the texts of a string column within the payload values; kept for the next call.
	spans []span
}

// span is where a text stands in the payload column; the values of a Binary column stay below 2^31, which leaves room for the mark.
type span struct{ begin, size uint32 }

const escapedMark = 1 << 31

func newSpan(begin, end int, escaped bool) span {
	s := span{uint32(begin), uint32(end - begin)}
	if escaped {
		s.begin |= escapedMark
	}
	return s
}

// open makes room for count rows.
func (c *column) open(mem memory.Allocator, op operation, optional bool, count int) {
	if optional {
		c.validity = memory.NewResizableBuffer(mem)
		c.validity.Resize(int(bitutil.BytesForBits(int64(count))))
		c.valid = c.validity.Bytes()
		clear(c.valid)
	}
	if op == opString {
		if cap(c.spans) < count {
			c.spans = make([]span, count)
		}
		c.spans = c.spans[:count]
		return
	}
	c.fixed = memory.NewResizableBuffer(mem)
	c.fixed.Resize(fixedBytes(op, count))
	c.data = c.fixed.Bytes()
	switch op {
	case opBool:
		clear(c.data)
	case opInt16:
		c.u16 = arrow.Uint16Traits.CastFromBytes(c.data)
	case opInt32, opF32:
		c.u32 = arrow.Uint32Traits.CastFromBytes(c.data)
	case opInt64, opF64, opDatetime:
		c.u64 = arrow.Uint64Traits.CastFromBytes(c.data)
	}
}

func fixedBytes(op operation, count int) int {
	switch op {
	case opBool:
		return int(bitutil.BytesForBits(int64(count)))
	case opInt8:
		return count
	case opInt16:
		return 2 * count
	case opInt32, opF32:
		return 4 * count
	default:
		return 8 * count
	}
}

func (c *column) setValid(row int) { c.valid[row>>3] |= 1 << (row & 7) }

// setNull makes the row null with a value of zero, so that equal input gives equal bytes.
func (c *column) setNull(op operation, row int) {
	c.valid[row>>3] &^= 1 << (row & 7)
	switch op {
	case opString:
		c.spans[row] = span{}
	case opBool:
		c.setBit(row, false)
	case opInt8:
		c.data[row] = 0
	case opInt16:
		c.u16[row] = 0
	case opInt32, opF32:
		c.u32[row] = 0
	default:
		c.u64[row] = 0
	}
}

// setBit writes a boolean.
func (c *column) setBit(row int, v bool) {
	if v {
		c.data[row>>3] |= 1 << (row & 7)
	} else {
		c.data[row>>3] &^= 1 << (row & 7)
	}
}

// copyStrings is the second pass: offsets and bytes of a text column. It returns false if they do not fit an int32.
func (c *column) copyStrings(mem memory.Allocator, buf []byte, rows int) bool {
	spans := c.spans[:rows]
	total := 0
	for _, s := range spans {
		total += int(s.size)
	}
	if total > math.MaxInt32 {
		return false
	}
	c.fixed = memory.NewResizableBuffer(mem)
	c.fixed.Resize(4 * (rows + 1))
	c.text = memory.NewResizableBuffer(mem)
	c.text.Resize(total + 16) // room to copy by 16 bytes
	offsets := arrow.Int32Traits.CastFromBytes(c.fixed.Bytes())[:rows+1]
	dst := c.text.Bytes()
	w := 0
	for r, s := range spans {
		offsets[r] = int32(w)
		begin, size := int(s.begin&^escapedMark), int(s.size)
		switch {
		case s.begin&escapedMark != 0:
			w += unescape(dst[w:], buf[begin:begin+size])
			continue
		case size <= 16 && begin+16 <= len(buf):
			store(dst, w, load(buf, begin))
			store(dst, w+8, load(buf, begin+8))
		default:
			copy(dst[w:], buf[begin:begin+size])
		}
		w += size
	}
	offsets[rows] = int32(w)
	clear(dst[w:min(w+16, len(dst))])
	c.text.ResizeNoShrink(w)
	return true
}

// array hands the buffers over to an Arrow array of the first rows.
func (c *column) array(t arrow.DataType, op operation, rows int) arrow.Array {
	nulls := 0
	if c.validity != nil {
		nulls = rows - bitutil.CountSetBits(c.valid, 0, rows)
		if nulls == 0 {
			c.validity.Release()
			c.validity = nil
		} else {
			c.validity.ResizeNoShrink(int(bitutil.BytesForBits(int64(rows))))
		}
	}
	buffers := []*memory.Buffer{c.validity, c.fixed}
	if op == opString {
		buffers = append(buffers, c.text)
	} else {
		c.fixed.ResizeNoShrink(fixedBytes(op, rows))
	}
	data := array.NewData(t, rows, buffers, nil, nulls, 0)
	made := array.MakeFromData(data)
	data.Release()
	c.drop()
	return made
}

// drop lets go of the buffers; the spans stay for the next call.
func (c *column) drop() {
	for _, b := range []*memory.Buffer{c.validity, c.fixed, c.text} {
		if b != nil {
			b.Release()
		}
	}
	*c = column{spans: c.spans}
}

func makeColumns(n int) []arrow.Array { return make([]arrow.Array, n) }
