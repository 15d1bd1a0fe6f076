// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math"
	"strconv"

	"github.com/nervix-go/nervix/host/codec"
	"github.com/nervix-go/nervix/host/codec/jsoncodec"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// schema checks an internal schema (nspl 4).
func (b *builder) schema(r *report, e *entry) {
	def := e.def.(*ast.CreateSchema)
	if len(def.Fields) == 0 {
		r.check(fault.ModelEmpty, r.name(), "a schema needs at least one field")
	}
	fields := make([]types.Field, 0, len(def.Fields))
	seen := make(map[ident.Name]bool, len(def.Fields))
	for _, f := range def.Fields {
		if seen[f.Name.Name] {
			r.check(fault.ModelDuplicate, f.Name.Span, "field "+string(f.Name.Name)+" is declared twice")
		}
		seen[f.Name.Name] = true
		checkBounds(r, f.Type, f)
		fields = append(fields, types.Field{Name: f.Name.Name, Type: f.Type, Optional: f.Optional, Sensitive: f.Sensitive})
	}
	if !r.failed {
		b.g.Schemas = append(b.g.Schemas, types.NewSchema(e.ref.Name, fields))
	}
}

func checkBounds(r *report, t types.Type, f ast.FieldDecl) {
	if t.Scalar == types.Array && len(t.Dims) == 0 {
		r.check(fault.ModelBound, f.TypeSpan, "the ARRAY of field "+string(f.Name.Name)+" needs at least one axis")
	}
	for _, d := range t.Dims {
		if d == 0 || d > math.MaxInt32 {
			r.check(fault.ModelBound, f.TypeSpan, "an array axis of field "+string(f.Name.Name)+" is "+strconv.FormatUint(uint64(d), 10))
		}
	}
	if t.Elem != nil {
		checkBounds(r, *t.Elem, f)
	}
}

// wire checks a WIRE JSON SCHEMA (nspl 5.1). Names differ by spelling: payload keys are matched exactly (Q51).
func (b *builder) wire(r *report, e *entry) {
	def := e.def.(*ast.CreateWire)
	if len(def.Fields) == 0 {
		r.check(fault.ModelEmpty, r.name(), "a wire schema needs at least one field")
	}
	plan := &Wire{Ref: e.ref, Fingerprint: b.prints.of(e), Strict: def.Mode == ast.WireStrict}
	seen := make(map[string]bool, len(def.Fields))
	for _, f := range def.Fields {
		if seen[f.Name] {
			r.check(fault.ModelDuplicate, f.NameSpan, "field "+f.Name+" is declared twice")
		}
		seen[f.Name] = true
		kind, ok := jsoncodec.ParseWireType(string(f.Type))
		if !ok {
			r.check(fault.ModelCodec, f.TypeSpan, string(f.Type)+" is no type of a JSON wire schema")
		}
		plan.fields = append(plan.fields, jsoncodec.WireField{Name: f.Name, Type: kind, Optional: f.Optional})
	}
	if !r.failed {
		b.g.Wires = append(b.g.Wires, plan)
	}
}

// codec binds a wire schema to a schema, field by field (nspl 5.1, 5.2).
func (b *builder) codec(r *report, e *entry) {
	body, ok := e.def.(*ast.CreateCodec).Body.(*ast.WireCodec)
	if !ok || body.WireKind != ident.KindWireJSON {
		r.check(fault.ModelUnsupported, r.name(), "this form of codec is not supported by this version")
		return
	}
	wire, schema := b.g.Wire(body.WireKind, body.Wire.Name), b.g.Schema(body.Schema.Name)
	if wire == nil || schema == nil {
		return
	}
	mode := jsoncodec.Loose
	if wire.Strict {
		mode = jsoncodec.Strict
	}
	encodes := make([]ident.Name, len(body.Encode))
	for i, enc := range body.Encode {
		encodes[i] = enc.Field.Name
	}
	plan, mismatches := jsoncodec.Bind(mode, wire.fields, schema, encodes)
	for _, m := range mismatches {
		r.check(fault.ModelCodec, codecSpan(body, m), "field "+m.Field+" "+m.Text, wire.Ref, b.c.ref(ident.KindSchema, schema.Name()))
	}
	if r.failed {
		return
	}
	b.g.Codecs = append(b.g.Codecs, &Codec{
		Ref: e.ref, Fingerprint: b.prints.of(e), Schema: schema, Format: "WIRE JSON",
		NewDecoder: func() codec.Decoder { return plan.NewDecoder() },
		NewEncoder: func() codec.Encoder { return plan.NewEncoder() },
	})
}

// codecSpan is the ENCODE entry of the field if there is one, else the wire schema's name.
func codecSpan(body *ast.WireCodec, m jsoncodec.Mismatch) fault.Span {
	span := body.Wire.Span
	for _, enc := range body.Encode {
		if string(enc.Field.Name) == m.Field {
			span = enc.Span
		}
	}
	return span
}
