// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"bytes"
	"fmt"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/wasm/protocol/gen/nervix_wasm"
)

// Init is what nervix_init tells a guest (W-047).
type Init struct {
	DomainName string
	// DomainType is descriptive text; nothing branches on it (W-053).
	DomainType string
	// BranchKey is the concrete key as canonical JSON text; nil for an unbranched processor, and never empty otherwise (W-054, W-055).
	BranchKey []byte
	Input     Shape
	// Outputs has one entry for each declared destination, named like the relay (W-048).
	Outputs []Shape
}

// Shape is a schema with names as a guest sees it.
type Shape struct {
	Name   string
	Fields []Field
}

// Field is one field of a shape.
type Field struct {
	Name     string
	Type     types.Type
	Optional bool
}

// ShapeOf is the shape of a schema under the name of the relay that carries it.
func ShapeOf(name ident.Name, s *types.Schema) Shape {
	shape := Shape{Name: string(name), Fields: make([]Field, s.Len())}
	for i, f := range s.Fields() {
		shape.Fields[i] = Field{Name: string(f.Name), Type: f.Type, Optional: f.Optional}
	}
	return shape
}

// SameBranch says whether state saved under one init payload belongs to a branch with the other: everything agrees but the name of the
// domain (W-125).
func (i *Init) SameBranch(o *Init) bool {
	return i.DomainType == o.DomainType && (i.BranchKey == nil) == (o.BranchKey == nil) && bytes.Equal(i.BranchKey, o.BranchKey) &&
		i.Input.same(o.Input) && slices.EqualFunc(i.Outputs, o.Outputs, Shape.same)
}

func (s Shape) same(o Shape) bool {
	return s.Name == o.Name && slices.EqualFunc(s.Fields, o.Fields, func(a, b Field) bool {
		return a.Name == b.Name && a.Optional == b.Optional && a.Type.Equal(b.Type)
	})
}

var kindOf = map[types.Scalar]nervix_wasm.ProcessorTypeKind{
	types.U8: nervix_wasm.ProcessorTypeKindU8, types.I8: nervix_wasm.ProcessorTypeKindI8, types.U16: nervix_wasm.ProcessorTypeKindU16,
	types.I16: nervix_wasm.ProcessorTypeKindI16, types.U32: nervix_wasm.ProcessorTypeKindU32, types.I32: nervix_wasm.ProcessorTypeKindI32,
	types.U64: nervix_wasm.ProcessorTypeKindU64, types.I64: nervix_wasm.ProcessorTypeKindI64, types.Bool: nervix_wasm.ProcessorTypeKindBool,
	types.String: nervix_wasm.ProcessorTypeKindString, types.Bytes: nervix_wasm.ProcessorTypeKindBytes,
	types.Datetime: nervix_wasm.ProcessorTypeKindDatetime, types.F32: nervix_wasm.ProcessorTypeKindF32, types.F64: nervix_wasm.ProcessorTypeKindF64,
}

var scalarOf = func() map[nervix_wasm.ProcessorTypeKind]types.Scalar {
	m := make(map[nervix_wasm.ProcessorTypeKind]types.Scalar)
	for s, k := range kindOf {
		m[k] = s
	}
	return m
}()

// EncodeInit gives the message for nervix_init; Bytes makes it a Message. Fault: wasm.unencodable, wasm.buffer.
func EncodeInit(i *Init) ([]byte, error) {
	if i.BranchKey != nil && len(i.BranchKey) == 0 {
		return nil, refuse(fault.WasmUnencodable, "EncodeInit", "an empty branch key; an unbranched processor has none", nil)
	}
	t := nervix_wasm.BranchInitT{DomainName: i.DomainName, DomainType: i.DomainType, BranchKey: i.BranchKey, InputSchema: i.Input.object()}
	for _, o := range i.Outputs {
		t.OutputSchemas = append(t.OutputSchemas, o.object())
	}
	if t.OutputSchemas == nil {
		t.OutputSchemas = []*nervix_wasm.ProcessorSchemaT{}
	}
	message := packed(nervix_wasm.MessagePayloadBranchInit, &t)
	if err := JudgeSize(len(message)); err != nil {
		return nil, err
	}
	if _, bad := verified(message, nervix_wasm.MessagePayloadBranchInit); bad != nil {
		return nil, refuse(fault.WasmUnencodable, "EncodeInit", "the init payload breaks its own rules", bad)
	}
	return message, nil
}

func packed(kind nervix_wasm.MessagePayload, value any) []byte {
	b := flatbuffers.NewBuilder(1024)
	root := (&nervix_wasm.MessageT{Payload: &nervix_wasm.MessagePayloadT{Type: kind, Value: value}}).Pack(b)
	b.FinishSizePrefixedWithFileIdentifier(root, []byte(Identifier))
	return b.FinishedBytes()
}

func (s Shape) object() *nervix_wasm.ProcessorSchemaT {
	t := &nervix_wasm.ProcessorSchemaT{Name: s.Name, Fields: []*nervix_wasm.ProcessorFieldT{}}
	for _, f := range s.Fields {
		t.Fields = append(t.Fields, &nervix_wasm.ProcessorFieldT{Name: f.Name, Type: typeObject(f.Type), Optional: f.Optional})
	}
	return t
}

// typeObject nests the axes of an array, outer axis first (W-056).
func typeObject(t types.Type) *nervix_wasm.ProcessorTypeT {
	switch t.Scalar {
	case types.Vec:
		return &nervix_wasm.ProcessorTypeT{Kind: nervix_wasm.ProcessorTypeKindVec, Element: typeObject(*t.Elem)}
	case types.Array:
		inner := typeObject(*t.Elem)
		for i := len(t.Dims) - 1; i >= 0; i-- {
			inner = &nervix_wasm.ProcessorTypeT{Kind: nervix_wasm.ProcessorTypeKindArray, Element: inner, ArrayLen: t.Dims[i]}
		}
		return inner
	default:
		return &nervix_wasm.ProcessorTypeT{Kind: kindOf[t.Scalar]}
	}
}

// DecodeInit verifies an init payload and reads it; the result shares no memory with message. Fault: wasm.message.
func DecodeInit(message []byte) (*Init, error) {
	const op = "DecodeInit"
	m, bad := verified(message, nervix_wasm.MessagePayloadBranchInit)
	if bad != nil {
		return nil, badMessage(op, bad)
	}
	var tab flatbuffers.Table
	m.Payload(&tab)
	var x nervix_wasm.BranchInit
	x.Init(tab.Bytes, tab.Pos)
	i := &Init{DomainName: string(x.DomainName()), DomainType: string(x.DomainType()), BranchKey: bytes.Clone(x.BranchKeyBytes())}
	if i.Input, bad = readShape(x.InputSchema(nil)); bad != nil {
		return nil, badMessage(op, bad)
	}
	i.Outputs = make([]Shape, x.OutputSchemasLength())
	var one nervix_wasm.ProcessorSchema
	for k := range i.Outputs {
		x.OutputSchemas(&one, k)
		if i.Outputs[k], bad = readShape(&one); bad != nil {
			return nil, badMessage(op, bad)
		}
	}
	return i, nil
}

func readShape(x *nervix_wasm.ProcessorSchema) (Shape, *MessageError) {
	s := Shape{Name: string(x.Name()), Fields: make([]Field, x.FieldsLength())}
	var f nervix_wasm.ProcessorField
	for i := range s.Fields {
		x.Fields(&f, i)
		var t nervix_wasm.ProcessorType
		f.Type(&t)
		s.Fields[i] = Field{Name: string(f.Name()), Optional: f.Optional()}
		var bad *MessageError
		if s.Fields[i].Type, bad = readType(&t); bad != nil {
			bad.Name = fmt.Sprintf("field %d of a schema", i)
			return Shape{}, bad
		}
	}
	return s, nil
}

// readType joins nested arrays into one with several axes. The verifier bounded the nesting.
func readType(x *nervix_wasm.ProcessorType) (types.Type, *MessageError) {
	kind := x.Kind()
	if scalar, ok := scalarOf[kind]; ok {
		return types.Of(scalar), nil
	}
	var element nervix_wasm.ProcessorType
	if x.Element(&element) == nil {
		return types.Type{}, &MessageError{Class: ClassElement}
	}
	inner, bad := readType(&element)
	switch {
	case bad != nil:
		return types.Type{}, bad
	case kind == nervix_wasm.ProcessorTypeKindVec:
		return types.Type{Scalar: types.Vec, Elem: &inner}, nil
	case inner.Scalar == types.Array:
		inner.Dims = append([]uint32{x.ArrayLen()}, inner.Dims...)
		return inner, nil
	default:
		return types.Type{Scalar: types.Array, Elem: &inner, Dims: []uint32{x.ArrayLen()}}, nil
	}
}
