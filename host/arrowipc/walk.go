// SPDX-License-Identifier: Apache-2.0

package arrowipc

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// walk goes over nodes and buffers of one record batch in the order of the schema. It is used twice: first to check, then to build.
type walk struct {
	flat             flat
	body             []byte
	nodeAt, bufferAt int
	maxRows          int

	owner  *memory.Buffer
	bodyAt int
	copied bool
}

func (w *walk) node() (length, nulls int64) {
	length, nulls = w.flat.i64(w.nodeAt), w.flat.i64(w.nodeAt+8)
	w.nodeAt += 16
	return length, nulls
}

func (w *walk) region() (offset, length int64) {
	offset, length = w.flat.i64(w.bufferAt), w.flat.i64(w.bufferAt+8)
	w.bufferAt += 16
	return offset, length
}

// bytes gives the checked range of the next buffer.
func (w *walk) bytes() ([]byte, bool) {
	off, n := w.region()
	if off < 0 || n < 0 || off%bufferAlign != 0 || off > int64(len(w.body)) || n > int64(len(w.body))-off {
		return nil, false
	}
	return w.body[off : off+n : off+n], true
}

// check verifies one field of want rows and everything below it. exact is false below a list, where more values may be present than
// the offsets name; then want is the least number.
func (w *walk) check(l *layout, want int, exact bool) error {
	length, nulls := w.node()
	if length < int64(want) || exact && length != int64(want) || length > int64(w.maxRows) {
		return l.wrong("has another length than its parent")
	}
	n := int(length)
	validity, err := w.checkValidity(l, n, nulls)
	if err != nil {
		return err
	}
	switch l.shape {
	case shapeFixed:
		values, ok := w.bytes()
		if !ok || len(values)/l.width < n {
			return l.wrong("has too few bytes of values")
		}
	case shapeBits:
		values, ok := w.bytes()
		if !ok || len(values) < (n+7)/8 {
			return l.wrong("has too few bits of values")
		}
	case shapeBytes, shapeWide:
		return w.checkBytes(l, n, validity)
	case shapeList:
		last, err := w.checkOffsets(l, n)
		if err != nil {
			return err
		}
		return w.check(&l.children[0], last, false)
	case shapeRuns:
		if l.width > 0 && n > w.maxRows/l.width {
			return l.wrong("has too many values")
		}
		return w.check(&l.children[0], n*l.width, true)
	case shapeStruct:
		for i := range l.children {
			if err := w.check(&l.children[i], n, true); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *layout) wrong(what string) error { return invalid("column " + l.name + " " + what) }

// checkValidity verifies bitmap and null count. The result is the bitmap, nil if no row is null.
func (w *walk) checkValidity(l *layout, n int, nulls int64) ([]byte, error) {
	validity, ok := w.bytes()
	if !ok {
		return nil, l.wrong("has a validity bitmap outside the body")
	}
	if nulls < 0 || nulls > int64(n) {
		return nil, l.wrong("has an impossible null count")
	}
	if nulls > 0 && !l.nullable {
		return nil, l.wrong("is not nullable but has nulls")
	}
	if len(validity) == 0 {
		if nulls != 0 {
			return nil, l.wrong("counts nulls without a validity bitmap")
		}
		return nil, nil
	}
	if len(validity) < (n+7)/8 {
		return nil, l.wrong("has a validity bitmap that is too short")
	}
	if int64(n-countSet(validity, n)) != nulls {
		return nil, l.wrong("has a null count that its bitmap contradicts")
	}
	if nulls == 0 {
		return nil, nil
	}
	return validity, nil
}

// countSet counts the set bits among the first n.
func countSet(b []byte, n int) int {
	set, i := 0, 0
	for ; i+64 <= n; i += 64 {
		set += bits.OnesCount64(binary.LittleEndian.Uint64(b[i/8:]))
	}
	for ; i < n; i++ {
		set += int(b[i/8]>>(i%8)) & 1
	}
	return set
}

// checkOffsets verifies a list's int32 offsets and returns the last.
func (w *walk) checkOffsets(l *layout, n int) (int, error) {
	raw, ok := w.bytes()
	if !ok {
		return 0, l.wrong("has offsets outside the body")
	}
	if n == 0 && len(raw) == 0 {
		return 0, nil
	}
	if len(raw)/4 < n+1 {
		return 0, l.wrong("has too few offsets")
	}
	if len(raw)%4 != 0 {
		return 0, l.wrong("has an offset that is cut")
	}
	last, ok := monotone32(raw, n)
	if !ok || last > w.maxRows {
		return 0, l.wrong("has offsets that are negative, falling or too large")
	}
	return last, nil
}

// monotone32 verifies n+1 offsets; raw is long enough.
func monotone32(raw []byte, n int) (last int, ok bool) {
	at := int32(binary.LittleEndian.Uint32(raw))
	if at < 0 {
		return 0, false
	}
	falling := int32(0)
	for i := 1; i <= n; i++ {
		next := int32(binary.LittleEndian.Uint32(raw[4*i : 4*i+4]))
		falling |= next - at // both are positive as long as none fell, so the difference cannot overflow
		falling |= next
		at = next
	}
	return int(at), falling >= 0
}

func monotone64(raw []byte, n int) (last int64, ok bool) {
	at := int64(binary.LittleEndian.Uint64(raw))
	for i := 1; i <= n && at >= 0; i++ {
		next := int64(binary.LittleEndian.Uint64(raw[8*i:]))
		if next < at {
			return 0, false
		}
		at = next
	}
	return at, at >= 0
}

func (w *walk) checkBytes(l *layout, n int, validity []byte) error {
	raw, ok := w.bytes()
	values, ok2 := w.bytes()
	if !ok || !ok2 {
		return l.wrong("has buffers outside the body")
	}
	size := 4
	if l.shape == shapeWide {
		size = 8
	}
	if n == 0 && len(raw) == 0 {
		return nil
	}
	if len(raw)/size < n+1 {
		return l.wrong("has too few offsets")
	}
	if len(raw)%size != 0 {
		return l.wrong("has an offset that is cut")
	}
	var last int64
	if size == 4 {
		l32, mono := monotone32(raw, n)
		last, ok = int64(l32), mono
	} else {
		last, ok = monotone64(raw, n)
	}
	if !ok || last > int64(len(values)) {
		return l.wrong("has offsets that are negative, falling or beyond its bytes")
	}
	if l.text && !validText(raw, size, values, n, validity) {
		return l.wrong("has text that is not UTF-8")
	}
	return nil
}

func offsetAt(raw []byte, size, i int) int {
	if size == 4 {
		return int(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return int(binary.LittleEndian.Uint64(raw[8*i:]))
}

// validText checks every row that is not null. The whole range at once is the fast way: it is valid text and no row begins inside a
// character.
func validText(raw []byte, size int, values []byte, n int, validity []byte) bool {
	first, last := offsetAt(raw, size, 0), offsetAt(raw, size, n)
	if utf8.Valid(values[first:last]) {
		whole := true
		for i := 1; i < n && whole; i++ {
			at := offsetAt(raw, size, i)
			whole = at == last || utf8.RuneStart(values[at])
		}
		if whole {
			return true
		}
	}
	for i := range n {
		if validity != nil && validity[i/8]>>(i%8)&1 == 0 {
			continue
		}
		if !utf8.Valid(values[offsetAt(raw, size, i):offsetAt(raw, size, i+1)]) {
			return false
		}
	}
	return true
}

// build makes the array data of a checked field.
func (w *walk) build(l *layout) *array.Data {
	length, nulls := w.node()
	buffers := make([]*memory.Buffer, 0, 3)
	validity := w.slice()
	if nulls == 0 && validity != nil {
		validity.Release()
		validity = nil
	}
	buffers = append(buffers, validity)
	for i := 1; i < l.buffers(); i++ {
		b := w.slice()
		if b == nil && i == 1 && length == 0 && (l.shape == shapeBytes || l.shape == shapeWide || l.shape == shapeList) {
			b = memory.NewBufferBytes(zeroOffset[:])
		}
		if b == nil {
			b = memory.NewBufferBytes(nil)
		}
		buffers = append(buffers, b)
	}
	var children []arrow.ArrayData
	for i := range l.children {
		children = append(children, w.build(&l.children[i]))
	}
	data := array.NewData(l.dtype, int(length), buffers, children, int(nulls), 0)
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	for _, c := range children {
		c.Release()
	}
	return data
}

// zeroOffset is the offsets buffer of an empty column whose writer left it out.
var zeroOffset [8]byte

// slice is the next buffer over the owner's bytes, nil if it is empty.
func (w *walk) slice() *memory.Buffer {
	off, n := w.region()
	if n == 0 {
		return nil
	}
	return memory.SliceBuffer(w.owner, w.bodyAt+int(off), int(n))
}
