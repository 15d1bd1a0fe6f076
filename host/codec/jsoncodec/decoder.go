// SPDX-License-Identifier: Apache-2.0

package jsoncodec

import (
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/codec"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// maxDepth is the deepest nesting of a payload, its own object counted (Q52).
const maxDepth = 128

// decoder implements codec.Decoder. All state but next belongs to one call.
type decoder struct {
	plan *Plan
	buf  []byte // the values of the whole payload column: reading ahead of a payload is allowed
	end  int    // where the payload in work ends
	row  int    // the free row of the columns
	cols []column
	// attempt numbers the payloads of this decoder's life, from 1; seen holds the attempt in which a field was last met.
	attempt uint64
	seen    []uint64
	// next is, for each field and for the start of an object, the field that followed last time. It only guesses.
	next    []int
	bad     failure
	scratch []byte
}

// NewDecoder makes a decoder for one lane.
func (p *Plan) NewDecoder() codec.Decoder {
	d := &decoder{plan: p, cols: make([]column, len(p.fields)), seen: make([]uint64, len(p.fields)), next: make([]int, len(p.fields)+1)}
	for i := range d.next {
		d.next[i] = (i + 1) % len(p.fields)
	}
	d.next[len(p.fields)] = 0
	return d
}

// Decode implements codec.Decoder. req P-020: a rejected payload drops only its own partial row.
func (d *decoder) Decode(mem memory.Allocator, payloads *array.Binary, rows []int32) (codec.Decoded, error) {
	count := len(rows)
	if rows == nil {
		count = payloads.Len()
	}
	out := codec.Decoded{Rows: make([]int32, 0, count)}
	offsets := payloads.ValueOffsets()
	d.buf, d.row = nil, 0
	if values := payloads.Data().Buffers()[2]; values != nil {
		d.buf = values.Bytes()
	}
	for i := range d.cols {
		d.cols[i].open(mem, d.plan.fields[i].op, d.plan.fields[i].optional, count)
	}
	for n := range count {
		r := int32(n)
		if rows != nil {
			r = rows[n]
		}
		begin, end := 0, 0
		if payloads.IsValid(int(r)) {
			begin, end = int(offsets[r]), int(offsets[r+1])
		}
		d.end = end
		d.attempt++
		if d.payload(begin) {
			out.Rows = append(out.Rows, r)
			d.row++
			continue
		}
		out.Rejects = append(out.Rejects, d.reject(r, begin))
	}
	if err := d.finish(mem, &out); err != nil {
		return codec.Decoded{}, err
	}
	return out, nil
}

// finish makes the columns, in schema order.
func (d *decoder) finish(mem memory.Allocator, out *codec.Decoded) error {
	for i := range d.cols {
		if d.plan.fields[i].op == opString && !d.cols[i].copyStrings(mem, d.buf, d.row) {
			for j := range d.cols {
				d.cols[j].drop()
			}
			return fault.New(fault.CodecSize, "jsoncodec.Decode", ident.Ref{}, "a text column would be beyond 2 GiB", nil)
		}
	}
	out.Columns = makeColumns(len(d.cols))
	for i := range d.cols {
		f := &d.plan.fields[i]
		out.Columns[f.column] = d.cols[i].array(d.plan.schema.Field(f.column).Type.Arrow(), f.op, d.row)
	}
	d.buf = nil
	return nil
}

// payload reads one payload into the free row. If it returns false, d.bad says why.
func (d *decoder) payload(i int) bool {
	buf := d.buf
	if i = d.skipSpace(i); i >= d.end {
		return d.fail(codec.Empty, i, "the payload is empty")
	}
	if buf[i] != '{' {
		return d.failFound(codec.Syntax, i, noField, "expected one JSON object a line (NDJSON)")
	}
	if i = d.skipSpace(i + 1); i >= d.end {
		return d.failEnd(i)
	}
	if i = d.members(i); i < 0 {
		return false
	}
	if i < d.end {
		if i = d.skipSpace(i); i < d.end {
			return d.failFound(codec.Trailing, i, noField, "something follows the object; expected one JSON object a line (NDJSON)")
		}
	}
	return true
}

// members reads from the first byte after `{` (space skipped) to behind `}`; -1 if it failed.
func (d *decoder) members(i int) int {
	buf, end, attempt := d.buf, d.end, d.attempt
	fields := d.plan.fields
	last, met := len(fields), 0
	if buf[i] == '}' {
		return d.complete(i+1, met)
	}
	for {
		// 1. The name: first the one that followed last time.
		f, name := d.next[last], i
		if fields[f].key.at(buf, i) {
			i += fields[f].key.n
		} else if f, i = d.name(i, last); i < 0 {
			return -1
		}
		// 2. The colon.
		if i < end && buf[i] == ':' {
			i++
		} else if i = d.colon(i); i < 0 {
			return -1
		}
		if i >= end || buf[i] <= ' ' {
			if i = d.skipSpace(i); i >= end {
				return d.failEndAt(i)
			}
		}
		// 3. The value.
		if f < 0 {
			i = d.skipValue(i)
		} else {
			if d.seen[f] != attempt {
				d.seen[f] = attempt
				met++
			} else if d.plan.strict {
				return d.failNamed(codec.DuplicateField, name, f, "stands twice (MODE STRICT)")
			}
			last = f
			i = d.value(&fields[f], &d.cols[f], f, i)
		}
		if i < 0 {
			return -1
		}
		// 4. What follows.
		if i >= end || buf[i] <= ' ' {
			if i = d.skipSpace(i); i >= end {
				return d.failEndAt(i)
			}
		}
		if buf[i] == '}' {
			return d.complete(i+1, met)
		}
		if buf[i] != ',' {
			d.failFound(codec.Syntax, i, noField, "expected ',' or '}'")
			return -1
		}
		if i++; i >= end || buf[i] <= ' ' {
			if i = d.skipSpace(i); i >= end {
				return d.failEndAt(i)
			}
		}
	}
}

// complete checks that nothing required is absent and writes the nulls of what is. i is handed through.
func (d *decoder) complete(i, met int) int {
	if met == len(d.seen) {
		return i
	}
	for f, at := range d.seen {
		if at == d.attempt {
			continue
		}
		if !d.plan.fields[f].optional {
			return d.failNamed(codec.Missing, i-1, f, "is required and absent")
		}
		d.cols[f].setNull(d.plan.fields[f].op, d.row)
	}
	return i
}

// value reads the value of a field at i into the free row and returns what is behind it; -1 if it failed.
func (d *decoder) value(f *field, c *column, index, i int) int {
	if d.buf[i] == 'n' {
		return d.null(f, c, index, i)
	}
	if c.valid != nil {
		c.setValid(d.row)
	}
	switch f.op {
	case opString:
		if d.buf[i] != '"' {
			return d.failType(i, index)
		}
		j, escaped := d.text(i + 1)
		if j >= 0 {
			c.spans[d.row] = newSpan(i+1, j, escaped)
			return j + 1
		}
		return -1
	case opInt64:
		v, j := d.integer(f, index, i)
		c.u64[d.row] = v
		return j
	case opF64:
		v, j := d.float64(index, i)
		c.u64[d.row] = v
		return j
	case opBool:
		v, j := d.boolean(index, i)
		c.setBit(d.row, v)
		return j
	case opDatetime:
		v, j := d.datetime(index, i)
		c.u64[d.row] = uint64(v)
		return j
	case opF32:
		v, j := d.float32(index, i)
		c.u32[d.row] = v
		return j
	case opInt32:
		v, j := d.integer(f, index, i)
		c.u32[d.row] = uint32(v)
		return j
	case opInt16:
		v, j := d.integer(f, index, i)
		c.u16[d.row] = uint16(v)
		return j
	default:
		v, j := d.integer(f, index, i)
		c.data[d.row] = uint8(v)
		return j
	}
}

// null reads the word null for a field.
func (d *decoder) null(f *field, c *column, index, i int) int {
	if !d.word(i, "null") {
		return d.failWord(i)
	}
	if !f.optional {
		return d.failNamed(codec.Missing, i, index, "is required and null")
	}
	c.setNull(f.op, d.row)
	return i + 4
}

// boolean reads true or false.
func (d *decoder) boolean(index, i int) (v bool, next int) {
	switch {
	case d.word(i, "true"):
		return true, i + 4
	case d.word(i, "false"):
		return false, i + 5
	case d.buf[i] == 't' || d.buf[i] == 'f':
		return false, d.failWord(i)
	default:
		return false, d.failType(i, index)
	}
}

// word says whether a literal stands at i.
func (d *decoder) word(i int, w string) bool {
	return i+len(w) <= d.end && string(d.buf[i:i+len(w)]) == w
}
