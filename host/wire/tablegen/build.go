// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/nervix-go/nervix/host/wire/verify"
)

// schema is the finished description with the name of its Go package.
type schema struct {
	namespace string
	verify.Schema
}

// builder numbers tables, enumerations and unions; structs and unions are lists of their own in the reflected schema's index space.
type builder struct {
	in        *reflected
	out       schema
	tableOf   map[int]int // object index -> table index
	enumOf    map[int]int // enum index -> enumeration index
	unionOf   map[int]int // enum index -> union index
	namespace string
}

func build(in *reflected) (*schema, error) {
	b := &builder{in: in, tableOf: map[int]int{}, enumOf: map[int]int{}, unionOf: map[int]int{}}
	if err := b.number(); err != nil {
		return nil, err
	}
	for i := range in.Enums {
		b.enumeration(i)
	}
	for i := range in.Objects {
		if err := b.object(i); err != nil {
			return nil, err
		}
	}
	b.out.namespace, b.out.Name = b.namespace, b.namespace
	return &b.out, nil
}

func (b *builder) number() error {
	for i, o := range b.in.Objects {
		namespace, _, err := splitName(o.Name)
		if err != nil {
			return err
		}
		if b.namespace != "" && namespace != b.namespace {
			return fmt.Errorf("namespaces %s and %s in one schema", b.namespace, namespace)
		}
		b.namespace = namespace
		if !o.IsStruct {
			b.tableOf[i] = len(b.tableOf)
		}
	}
	for i, e := range b.in.Enums {
		if e.IsUnion {
			b.unionOf[i] = len(b.unionOf)
		} else {
			b.enumOf[i] = len(b.enumOf)
		}
	}
	return nil
}

func (b *builder) enumeration(i int) {
	e := b.in.Enums[i]
	_, name, _ := splitName(e.Name)
	if e.IsUnion {
		u := verify.Union{Name: name}
		for _, v := range e.Values {
			if v.Value != 0 && v.UnionType.Index != nil {
				u.Tables = append(u.Tables, verify.UnionCase{Type: uint8(v.Value), Table: b.tableOf[*v.UnionType.Index]})
			}
		}
		b.out.Unions = append(b.out.Unions, u)
		return
	}
	_, flags := find(e.Attributes, "bit_flags")
	out := verify.Enum{Name: name, Flags: flags}
	for _, v := range e.Values {
		out.Values = append(out.Values, uint64(v.Value))
	}
	sort.Slice(out.Values, func(i, j int) bool { return out.Values[i] < out.Values[j] })
	b.out.Enums = append(b.out.Enums, out)
}

func (b *builder) object(i int) error {
	o := b.in.Objects[i]
	_, name, _ := splitName(o.Name)
	if o.IsStruct {
		for _, f := range o.Fields {
			if f.Type.Index != nil && *f.Type.Index >= 0 {
				return fmt.Errorf("struct %s.%s: enumerations and structs inside structs are not supported by the verifier", name, f.Name)
			}
		}
		return nil
	}
	t := verify.Table{Name: name, Cost: 32}
	t.Identifier, _ = find(o.Attributes, "frame_id")
	fields := append([]field(nil), o.Fields...)
	sort.Slice(fields, func(i, j int) bool { return fields[i].ID < fields[j].ID })
	for _, f := range fields {
		t.Slots = max(t.Slots, f.ID+1)
		if f.Deprecated || f.Type.BaseType == "UType" {
			continue // judged with the union, or not allowed at all
		}
		out, err := b.field(f)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", name, f.Name, err)
		}
		t.Fields = append(t.Fields, out)
		t.Cost += memberCost(out)
	}
	b.out.Tables = append(b.out.Tables, t)
	return nil
}

// memberCost is the place a decoded member takes in a Go struct: a word for a scalar or pointer, two for a string or interface,
// three for a slice.
func memberCost(f verify.Field) int {
	switch f.Kind {
	case verify.KindString, verify.KindUnion:
		return 16
	case verify.KindVector:
		return 24
	case verify.KindStruct:
		return 16 + f.Size
	default:
		return 16
	}
}

func (b *builder) field(f field) (verify.Field, error) {
	out := verify.Field{Name: f.Name, Slot: f.ID, ZeroDefault: f.DefaultInteger == 0 && f.DefaultReal == 0}
	base := f.Type.BaseType
	if base == "Vector" {
		out.Kind = verify.KindVector
		if err := b.form(&out, &out.Elem, f.Type.Element, f.Type.Index); err != nil {
			return out, err
		}
		if out.Elem == verify.KindUnion {
			return out, fmt.Errorf("vectors of unions are not supported by the verifier")
		}
	} else if err := b.form(&out, &out.Kind, base, f.Type.Index); err != nil {
		return out, err
	}
	return out, rules(f, &out)
}

// form fills kind, size, alignment and reference from a base type.
func (b *builder) form(out *verify.Field, kind *verify.Kind, base string, index *int) error {
	switch {
	case base == "String":
		*kind = verify.KindString
	case base == "Obj":
		o := b.in.Objects[*index]
		if o.IsStruct {
			*kind, out.Size, out.Align = verify.KindStruct, o.ByteSize, o.MinAlign
		} else {
			*kind, out.Ref = verify.KindTable, b.tableOf[*index]
		}
	case base == "Union":
		*kind, out.Ref = verify.KindUnion, b.unionOf[*index]
	case base == "Bool":
		*kind, out.Size, out.Align = verify.KindBool, 1, 1
	case scalarSizes[base] > 0:
		*kind, out.Size, out.Align = verify.KindScalar, scalarSizes[base], scalarSizes[base]
		if index != nil && *index >= 0 {
			*kind, out.Ref = verify.KindEnum, b.enumOf[*index]
		}
	default:
		return fmt.Errorf("base type %q is not supported by the verifier", base)
	}
	return nil
}

// rules reads keywords and attributes, and refuses an attribute that its member cannot have.
func rules(f field, out *verify.Field) error {
	scalar := out.Kind <= verify.KindEnum
	for _, rule := range []struct {
		key     string
		bit     verify.Rules
		allowed bool
	}{
		{"present", verify.Present, scalar && f.Optional},
		{"nonzero", verify.Nonzero, scalar},
		{"nonempty", verify.Nonempty, out.Kind == verify.KindString || out.Kind == verify.KindVector},
		{"canonical", verify.Canonical, out.Kind == verify.KindVector && out.Elem == verify.KindString},
	} {
		if _, ok := find(f.Attributes, rule.key); ok {
			if !rule.allowed {
				return fmt.Errorf("attribute %s does not fit this member", rule.key)
			}
			out.Rules |= rule.bit
		}
	}
	if f.Required {
		out.Rules |= verify.Required
	}
	if text, ok := find(f.Attributes, "max_bytes"); ok {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n <= 0 || (out.Kind != verify.KindString && out.Elem != verify.KindString) {
			return fmt.Errorf("attribute max_bytes: %q does not fit this member", text)
		}
		out.MaxBytes = n
	}
	return nil
}
