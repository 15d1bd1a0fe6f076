// SPDX-License-Identifier: Apache-2.0

package jsoncodec

import (
	"math"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// operation is what is done with one field; it joins wire type and internal type.
type operation uint8

const (
	opInt8 operation = iota
	opInt16
	opInt32
	opInt64
	opF32
	opF64
	opBool
	opString
	opDatetime
)

// field is a compiled binding. Fields stand in wire order.
type field struct {
	op       operation
	optional bool
	signed   bool
	column   int    // index in the schema
	maxPlus  uint64 // greatest magnitude of a value >= 0
	maxMinus uint64 // greatest magnitude of a value < 0
	key      keyWords
	prefix   prefixWords
	name     string
	want     string // the wire type for messages
}

// Plan is a checked binding of a wire schema and an internal schema. It is immutable and shared by decoders and encoders.
type Plan struct {
	schema *types.Schema
	fields []field
	byName map[string]int
	strict bool
	// longestName bounds what an escaped key can be.
	longestName int
}

// Schema is the internal schema.
func (p *Plan) Schema() *types.Schema { return p.schema }

// Mismatch is one reason why a codec cannot be created. Field is the wire or internal name it speaks of.
type Mismatch struct {
	Field string
	Text  string
}

// Bind joins a wire schema to an internal one. encodes names the internal fields with ENCODE ... AS RFC3339. Either the plan or all
// mismatches are returned. Every field must exist on both sides with agreeing type and optionality (nspl 5.1); a wire name binds to
// the internal field that equals it case-folded (Q51).
func Bind(mode Mode, wire []WireField, schema *types.Schema, encodes []ident.Name) (*Plan, []Mismatch) {
	p := &Plan{schema: schema, byName: make(map[string]int, len(wire)), strict: mode == Strict}
	var bad []Mismatch
	if len(wire) == 0 {
		bad = append(bad, Mismatch{"", "the wire schema has no field"})
	}
	rfc3339 := make(map[ident.Name]bool, len(encodes))
	for _, e := range encodes {
		name := fold(string(e))
		if rfc3339[name] {
			bad = append(bad, Mismatch{string(e), "is named twice in ENCODE"})
		}
		rfc3339[name] = true
		if _, ok := schema.Index(name); !ok {
			bad = append(bad, Mismatch{string(e), "is named in ENCODE but is no field of SCHEMA " + string(schema.Name())})
		}
	}
	boundBy := make(map[int]string, len(wire))
	for _, w := range wire {
		column, ok := schema.Index(fold(w.Name))
		if !ok {
			bad = append(bad, Mismatch{w.Name, "is in the wire schema but SCHEMA " + string(schema.Name()) + " has no field " + string(fold(w.Name))})
			continue
		}
		if other, twice := boundBy[column]; twice {
			bad = append(bad, Mismatch{w.Name, "binds to the same internal field as wire field " + other})
			continue
		}
		boundBy[column] = w.Name
		f, text := bindField(w, schema.Field(column), rfc3339[fold(w.Name)])
		if text != "" {
			bad = append(bad, Mismatch{w.Name, text})
			continue
		}
		f.column = column
		p.byName[w.Name] = len(p.fields)
		p.longestName = max(p.longestName, len(w.Name))
		p.fields = append(p.fields, f)
	}
	for i, f := range schema.Fields() {
		if _, ok := boundBy[i]; !ok {
			bad = append(bad, Mismatch{string(f.Name), "is a field of SCHEMA " + string(schema.Name()) + " but not of the wire schema"})
		}
	}
	if len(bad) > 0 {
		return nil, bad
	}
	return p, nil
}

// fold is the case folding of names: they hold ASCII letters only (nspl 1.3).
func fold(name string) ident.Name { return ident.Name(strings.ToLower(name)) }

// bindField joins one pair; text says why that is not possible.
func bindField(w WireField, s types.Field, rfc3339 bool) (f field, text string) {
	if w.Optional != s.Optional {
		if w.Optional {
			return f, "is OPTIONAL in the wire schema but required in the internal schema"
		}
		return f, "is required in the wire schema but OPTIONAL in the internal schema"
	}
	if rfc3339 && s.Type.Scalar != types.Datetime {
		return f, "ENCODE AS RFC3339 needs an internal DATETIME, not " + s.Type.String()
	}
	want, ok := wireFor(s.Type.Scalar)
	if !ok {
		return f, "has the internal type " + s.Type.String() + ", which a JSON wire schema cannot carry yet"
	}
	if w.Type != want {
		return f, "is " + w.Type.String() + " on the wire and " + s.Type.String() + " inside; " + s.Type.String() + " needs " + want.String()
	}
	if s.Type.Scalar == types.Datetime && !rfc3339 {
		return f, "is STRING on the wire and DATETIME inside: add ENCODE " + string(s.Name) + " AS RFC3339"
	}
	f = field{name: w.Name, want: w.Type.String(), optional: w.Optional, key: newKeyWords(w.Name), prefix: newPrefixWords(w.Name)}
	f.bindType(s.Type.Scalar)
	return f, ""
}

// wireFor is the table of nspl 5.1, column JSON.
func wireFor(s types.Scalar) (WireType, bool) {
	switch {
	case s.Integer():
		return Integer, true
	case s.Float():
		return Number, true
	case s == types.Bool:
		return Boolean, true
	case s == types.String, s == types.Datetime:
		return String, true
	default:
		return 0, false
	}
}

func (f *field) bindType(s types.Scalar) {
	switch s {
	case types.F32:
		f.op = opF32
	case types.F64:
		f.op = opF64
	case types.Bool:
		f.op = opBool
	case types.String:
		f.op = opString
	case types.Datetime:
		f.op, f.want = opDatetime, "a STRING with an RFC 3339 time"
	default:
		bits := s.Bits()
		f.op = map[int]operation{8: opInt8, 16: opInt16, 32: opInt32, 64: opInt64}[bits]
		f.signed = s.Signed()
		f.maxPlus = math.MaxUint64 >> (64 - bits)
		if f.signed {
			f.maxPlus >>= 1
			f.maxMinus = f.maxPlus + 1
		}
	}
}
