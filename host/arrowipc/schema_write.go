// SPDX-License-Identifier: Apache-2.0

package arrowipc

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	flatbuffers "github.com/google/flatbuffers/go"
)

// SchemaMessage is the encapsulated schema message of a schema; metadata is left out.
func SchemaMessage(schema *arrow.Schema) ([]byte, error) {
	if _, err := NewReader(schema, Limits{}); err != nil {
		return nil, err
	}
	b := flatbuffers.NewBuilder(1024)
	fields := writeFields(b, schema.Fields())
	b.StartObject(4)
	b.PrependUOffsetTSlot(1, fields, 0)
	header := b.EndObject()
	finishMessage(b, headerSchema, header, 0)
	return appendEnvelope(nil, b.FinishedBytes()), nil
}

func finishMessage(b *flatbuffers.Builder, kind byte, header flatbuffers.UOffsetT, body int64) {
	b.StartObject(5)
	b.PrependInt64Slot(3, body, 0)
	b.PrependUOffsetTSlot(2, header, 0)
	b.PrependInt16Slot(0, metadataV5, 0)
	b.PrependByteSlot(1, kind, 0)
	b.Finish(b.EndObject())
}

// appendEnvelope writes continuation mark, padded length and metadata.
func appendEnvelope(dst, meta []byte) []byte {
	padded := (len(meta) + bufferAlign - 1) &^ (bufferAlign - 1)
	dst = binary.LittleEndian.AppendUint32(dst, continuation)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(padded))
	dst = append(dst, meta...)
	return append(dst, zeros[:padded-len(meta)]...)
}

var zeros [bufferAlign]byte

func writeFields(b *flatbuffers.Builder, fields []arrow.Field) flatbuffers.UOffsetT {
	offsets := make([]flatbuffers.UOffsetT, len(fields))
	for i, f := range fields {
		offsets[i] = writeField(b, f)
	}
	b.StartVector(4, len(offsets), 4)
	for i := len(offsets) - 1; i >= 0; i-- {
		b.PrependUOffsetT(offsets[i])
	}
	return b.EndVector(len(offsets))
}

func writeField(b *flatbuffers.Builder, f arrow.Field) flatbuffers.UOffsetT {
	name := b.CreateString(f.Name)
	var nested []arrow.Field
	if n, ok := f.Type.(arrow.NestedType); ok {
		nested = n.Fields()
	}
	children := writeFields(b, nested)
	kind, detail := writeType(b, f.Type)
	b.StartObject(7)
	b.PrependUOffsetTSlot(0, name, 0)
	b.PrependUOffsetTSlot(3, detail, 0)
	b.PrependUOffsetTSlot(5, children, 0)
	b.PrependByteSlot(2, kind, 0)
	b.PrependBoolSlot(1, f.Nullable, false)
	return b.EndObject()
}

// writeType handles what layoutOf accepts; SchemaMessage asked it before.
func writeType(b *flatbuffers.Builder, t arrow.DataType) (byte, flatbuffers.UOffsetT) {
	object := func(kind byte, slots int, fill func()) (byte, flatbuffers.UOffsetT) {
		b.StartObject(slots)
		if fill != nil {
			fill()
		}
		return kind, b.EndObject()
	}
	unit := func(kind byte, u int16, absent int16) (byte, flatbuffers.UOffsetT) {
		return object(kind, 1, func() { b.PrependInt16Slot(0, u, absent) })
	}
	integer := func(width int32, signed bool) (byte, flatbuffers.UOffsetT) {
		return object(typeInt, 2, func() { b.PrependInt32Slot(0, width, 0); b.PrependBoolSlot(1, signed, false) })
	}
	switch t := t.(type) {
	case *arrow.BooleanType:
		return object(typeBool, 0, nil)
	case *arrow.StringType:
		return object(typeUtf8, 0, nil)
	case *arrow.BinaryType:
		return object(typeBinary, 0, nil)
	case *arrow.LargeStringType:
		return object(typeLargeUtf8, 0, nil)
	case *arrow.LargeBinaryType:
		return object(typeLargeBinary, 0, nil)
	case *arrow.ListType:
		return object(typeList, 0, nil)
	case *arrow.StructType:
		return object(typeStruct, 0, nil)
	case *arrow.FixedSizeListType:
		return object(typeFixedSizeList, 1, func() { b.PrependInt32Slot(0, t.Len(), 0) })
	case *arrow.FixedSizeBinaryType:
		return object(typeFixedSizeBinary, 1, func() { b.PrependInt32Slot(0, int32(t.ByteWidth), 0) })
	case *arrow.TimestampType:
		zone := b.CreateString(t.TimeZone)
		return object(typeTimestamp, 2, func() {
			b.PrependUOffsetTSlot(1, zone, 0)
			b.PrependInt16Slot(0, int16(t.Unit), 0)
		})
	case *arrow.DurationType:
		return unit(typeDuration, int16(t.Unit), 1)
	case *arrow.Date32Type:
		return unit(typeDate, 0, 1)
	case *arrow.Date64Type:
		return unit(typeDate, 1, 1)
	case *arrow.Time32Type:
		return object(typeTime, 2, func() { b.PrependInt32Slot(1, 32, 32); b.PrependInt16Slot(0, int16(t.Unit), 1) })
	case *arrow.Time64Type:
		return object(typeTime, 2, func() { b.PrependInt32Slot(1, 64, 32); b.PrependInt16Slot(0, int16(t.Unit), 1) })
	case *arrow.Float32Type:
		return unit(typeFloat, 1, 0)
	case *arrow.Float64Type:
		return unit(typeFloat, 2, 0)
	}
	width := int32(t.(arrow.FixedWidthDataType).BitWidth())
	return integer(width, arrow.IsSignedInteger(t.ID()))
}
