// SPDX-License-Identifier: Apache-2.0

package arrowipc

import (
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
)

// Numbers of the Arrow format (Schema.fbs, union Type).
const (
	typeInt             = 2
	typeFloat           = 3
	typeBinary          = 4
	typeUtf8            = 5
	typeBool            = 6
	typeDate            = 8
	typeTime            = 9
	typeTimestamp       = 10
	typeList            = 12
	typeStruct          = 13
	typeFixedSizeBinary = 15
	typeFixedSizeList   = 16
	typeDuration        = 18
	typeLargeBinary     = 19
	typeLargeUtf8       = 20
)

// ParseSchema checks one encapsulated schema message that fills b exactly. Metadata of fields and schema are left out.
func ParseSchema(b []byte) (*arrow.Schema, error) {
	m, rest, end, err := split(b)
	if err != nil {
		return nil, err
	}
	if end || len(rest) != 0 {
		return nil, invalid("the buffer does not hold exactly one message")
	}
	return schemaOf(m)
}

// Same says whether got is the schema want, metadata aside; the error names the first difference.
func Same(want, got *arrow.Schema) error {
	if want.NumFields() != got.NumFields() {
		return invalid("the schema has another number of columns than agreed")
	}
	for i, w := range want.Fields() {
		g := got.Field(i)
		if w.Name != g.Name || w.Nullable != g.Nullable || !arrow.TypeEqual(w.Type, g.Type) {
			return invalid("the schema differs from the agreed one at column " + w.Name)
		}
	}
	return nil
}

func schemaOf(m message) (*arrow.Schema, error) {
	if m.kind != headerSchema || len(m.body) != 0 {
		return nil, invalid("the message is not a schema")
	}
	// Tables of a FlatBuffer may be shared, so a small message can describe a huge tree; the budgets keep the cost linear.
	p := schemaParser{flat: m.meta, fields: len(m.meta.b)/32 + 1, names: len(m.meta.b)}
	if p.flat.int16(m.header, 0, 0) != 0 {
		return nil, refused("the schema is big-endian")
	}
	fields := p.list(m.header, 1, 0)
	if p.err != nil {
		return nil, p.err
	}
	if p.flat.bad {
		return nil, invalid("the schema is damaged")
	}
	return arrow.NewSchema(fields, nil), nil
}

type schemaParser struct {
	flat   flat
	fields int
	names  int
	err    error
}

func (p *schemaParser) list(t table, id, depth int) []arrow.Field {
	first, n := p.flat.vector(t, id, 4)
	if p.fields -= n; p.fields < 0 || depth > maxDepth {
		p.flat.fail()
	}
	if p.flat.bad {
		return nil
	}
	out := make([]arrow.Field, 0, n)
	for i := range n {
		f := p.field(p.flat.table(p.flat.follow(first+4*i)), depth)
		if p.flat.bad || p.err != nil {
			return nil
		}
		out = append(out, f)
	}
	return out
}

func (p *schemaParser) text(t table, id int) string {
	raw := p.flat.bytes(t, id)
	if p.names -= len(raw); p.names < 0 || !utf8.Valid(raw) {
		p.flat.fail()
		return ""
	}
	return string(raw)
}

func (p *schemaParser) field(t table, depth int) arrow.Field {
	f := arrow.Field{Name: p.text(t, 0), Nullable: p.flat.uint8(t, 1, 0) != 0}
	kind := p.flat.uint8(t, 2, 0)
	detail, ok := p.flat.child(t, 3)
	if !ok || p.flat.bad {
		p.flat.fail()
		return f
	}
	if p.flat.has(t, 4) {
		p.err = refused("column " + f.Name + " is dictionary encoded")
		return f
	}
	children := p.list(t, 5, depth+1)
	if p.flat.bad || p.err != nil {
		return f
	}
	f.Type = p.dtype(kind, detail, children)
	if f.Type == nil && p.err == nil {
		p.err = refused("column " + f.Name + " has a type that is not supported here")
	}
	return f
}

// dtype is nil for what the package does not read.
func (p *schemaParser) dtype(kind uint8, d table, children []arrow.Field) arrow.DataType {
	switch kind {
	case typeList, typeFixedSizeList:
		if len(children) != 1 {
			return nil
		}
	case typeStruct:
		return arrow.StructOf(children...)
	default:
		if len(children) != 0 {
			return nil
		}
	}
	switch kind {
	case typeInt:
		return intType(p.flat.int32(d, 0, 0), p.flat.uint8(d, 1, 0) != 0)
	case typeFloat:
		switch p.flat.int16(d, 0, 0) {
		case 1:
			return arrow.PrimitiveTypes.Float32
		case 2:
			return arrow.PrimitiveTypes.Float64
		}
	case typeBinary:
		return arrow.BinaryTypes.Binary
	case typeUtf8:
		return arrow.BinaryTypes.String
	case typeLargeBinary:
		return arrow.BinaryTypes.LargeBinary
	case typeLargeUtf8:
		return arrow.BinaryTypes.LargeString
	case typeBool:
		return arrow.FixedWidthTypes.Boolean
	case typeDate:
		return dateType(p.flat.int16(d, 0, 1))
	case typeTime:
		return timeType(p.flat.int16(d, 0, 1), p.flat.int32(d, 1, 32))
	case typeTimestamp:
		if u := p.flat.int16(d, 0, 0); u >= 0 && u <= 3 {
			return &arrow.TimestampType{Unit: arrow.TimeUnit(u), TimeZone: p.text(d, 1)}
		}
	case typeDuration:
		if u := p.flat.int16(d, 0, 1); u >= 0 && u <= 3 {
			return &arrow.DurationType{Unit: arrow.TimeUnit(u)}
		}
	case typeFixedSizeBinary:
		if w := p.flat.int32(d, 0, 0); w > 0 {
			return &arrow.FixedSizeBinaryType{ByteWidth: int(w)}
		}
	case typeFixedSizeList:
		if n := p.flat.int32(d, 0, 0); n > 0 {
			return arrow.FixedSizeListOfField(n, children[0])
		}
	case typeList:
		return arrow.ListOfField(children[0])
	}
	return nil
}

func intType(width int32, signed bool) arrow.DataType {
	switch {
	case width == 8 && signed:
		return arrow.PrimitiveTypes.Int8
	case width == 8:
		return arrow.PrimitiveTypes.Uint8
	case width == 16 && signed:
		return arrow.PrimitiveTypes.Int16
	case width == 16:
		return arrow.PrimitiveTypes.Uint16
	case width == 32 && signed:
		return arrow.PrimitiveTypes.Int32
	case width == 32:
		return arrow.PrimitiveTypes.Uint32
	case width == 64 && signed:
		return arrow.PrimitiveTypes.Int64
	case width == 64:
		return arrow.PrimitiveTypes.Uint64
	}
	return nil
}

func dateType(unit int16) arrow.DataType {
	switch unit {
	case 0:
		return arrow.FixedWidthTypes.Date32
	case 1:
		return arrow.FixedWidthTypes.Date64
	}
	return nil
}

func timeType(unit int16, width int32) arrow.DataType {
	switch {
	case width == 32 && unit == 0:
		return arrow.FixedWidthTypes.Time32s
	case width == 32 && unit == 1:
		return arrow.FixedWidthTypes.Time32ms
	case width == 64 && unit == 2:
		return arrow.FixedWidthTypes.Time64us
	case width == 64 && unit == 3:
		return arrow.FixedWidthTypes.Time64ns
	}
	return nil
}
