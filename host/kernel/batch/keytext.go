// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/zeebo/xxh3"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// KeyForm writes the canonical text of the keys of one branch declaration: a compact JSON object with the fields sorted by name, integers
// as numbers, DATETIME as RFC 3339, null kept (nspl Q20). It is immutable.
type KeyForm struct {
	branch ident.Name
	schema *types.Schema
	order  []int
}

// NewKeyForm makes the form of a branch over its key schema.
func NewKeyForm(branch ident.Name, schema *types.Schema) *KeyForm {
	f := &KeyForm{branch: branch, schema: schema}
	for i := range schema.Len() {
		f.order = append(f.order, i)
	}
	slices.SortFunc(f.order, func(a, b int) int {
		return compareNames(schema.Field(a).Name, schema.Field(b).Name)
	})
	return f
}

func compareNames(a, b ident.Name) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

// AppendText appends the canonical text of one row of the key columns, which are in schema order.
func (f *KeyForm) AppendText(dst []byte, columns []arrow.Array, row int) []byte {
	dst = append(dst, '{')
	for n, i := range f.order {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = appendQuoted(dst, string(f.schema.Field(i).Name))
		dst = append(dst, ':')
		dst = appendValue(dst, columns[i], row)
	}
	return append(dst, '}')
}

// Same says whether two rows have equal keys, without writing their text.
func (f *KeyForm) Same(columns []arrow.Array, a, b int) bool {
	for _, c := range columns {
		if c.IsNull(a) != c.IsNull(b) {
			return false
		}
		if c.IsNull(a) {
			continue
		}
		if !sameValue(c, a, b) {
			return false
		}
	}
	return true
}

func sameValue(c arrow.Array, a, b int) bool {
	switch c := c.(type) {
	case *array.String:
		return c.Value(a) == c.Value(b)
	case *array.Int64:
		return c.Value(a) == c.Value(b)
	case *array.Boolean:
		return c.Value(a) == c.Value(b)
	default:
		return c.GetOneForMarshal(a) == c.GetOneForMarshal(b)
	}
}

// Key makes the key of one row; text is its canonical text.
func (f *KeyForm) Key(text string, columns []arrow.Array, row int) *Key {
	one := make([]arrow.Array, len(columns))
	for i, c := range columns {
		one[i] = array.NewSlice(c, int64(row), int64(row)+1)
	}
	record := array.NewRecordBatch(f.schema.Arrow(), one, 1)
	// A copy on the Go heap: a slice would keep the whole ingest batch alive as long as the branch.
	record.Retain()
	own, _, _ := Gather(f.schema.Arrow(), []Piece{{Record: record, Rows: []uint32{0}, Low: zeroMark, High: zeroMark}}, memory.DefaultAllocator)
	record.Release()
	for _, c := range one {
		c.Release()
	}
	return &Key{Branch: f.branch, Text: text, Hash: xxh3.HashString(text), Values: own}
}

var zeroMark = []int64{0}

func appendValue(dst []byte, column arrow.Array, row int) []byte {
	if column.IsNull(row) {
		return append(dst, "null"...)
	}
	switch c := column.(type) {
	case *array.String:
		return appendQuoted(dst, c.Value(row))
	case *array.Boolean:
		return strconv.AppendBool(dst, c.Value(row))
	case *array.Int64:
		return strconv.AppendInt(dst, c.Value(row), 10)
	case *array.Int32:
		return strconv.AppendInt(dst, int64(c.Value(row)), 10)
	case *array.Int16:
		return strconv.AppendInt(dst, int64(c.Value(row)), 10)
	case *array.Int8:
		return strconv.AppendInt(dst, int64(c.Value(row)), 10)
	case *array.Uint64:
		return strconv.AppendUint(dst, c.Value(row), 10)
	case *array.Uint32:
		return strconv.AppendUint(dst, uint64(c.Value(row)), 10)
	case *array.Uint16:
		return strconv.AppendUint(dst, uint64(c.Value(row)), 10)
	case *array.Uint8:
		return strconv.AppendUint(dst, uint64(c.Value(row)), 10)
	case *array.Float64:
		return appendFloat(dst, c.Value(row), 64)
	case *array.Float32:
		return appendFloat(dst, float64(c.Value(row)), 32)
	case *array.Timestamp:
		return appendInstant(dst, int64(c.Value(row)))
	default:
		panic("batch: no key text for columns of type " + column.DataType().String())
	}
}

func appendFloat(dst []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(dst, `"-Infinity"`...)
	case v == 0:
		return append(dst, '0') // both zeros are one key
	default:
		return strconv.AppendFloat(dst, v, 'g', -1, bits)
	}
}

// appendInstant writes RFC 3339 with 0, 3, 6 or 9 fraction digits as needed (nspl 3.1).
func appendInstant(dst []byte, ns int64) []byte {
	layout := `"2006-01-02T15:04:05.000000000-07:00"`
	switch {
	case ns%1e9 == 0:
		layout = `"2006-01-02T15:04:05-07:00"`
	case ns%1e6 == 0:
		layout = `"2006-01-02T15:04:05.000-07:00"`
	case ns%1e3 == 0:
		layout = `"2006-01-02T15:04:05.000000-07:00"`
	}
	return time.Unix(0, ns).UTC().AppendFormat(dst, layout)
}

const hexDigits = "0123456789abcdef"

// appendQuoted writes a JSON string with the shortest escapes.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			_, n := utf8.DecodeRuneInString(s[i:])
			dst = append(dst, s[i:i+n]...)
			i += n
			continue
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			dst = append(dst, c)
		}
		i++
	}
	return append(dst, '"')
}
