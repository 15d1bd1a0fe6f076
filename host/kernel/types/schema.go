// SPDX-License-Identifier: Apache-2.0

package types

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Field is one field of a schema. Nullability is part of the exact type (nspl 3.2).
type Field struct {
	Name      ident.Name
	Type      Type
	Optional  bool
	Sensitive bool
}

// SameShape says whether two fields agree in type and nullability, as INHERIT and `message.f` ask (nspl 9.2).
func (f Field) SameShape(o Field) bool { return f.Optional == o.Optional && f.Type.Equal(o.Type) }

// Fingerprint identifies the layout of a schema: names, types and nullability in order.
type Fingerprint [32]byte

// String is the lower-case hexadecimal form.
func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

// Schema is an immutable list of fields with a name. Two schemas of equal fields and different names are different schemas (nspl 4).
type Schema struct {
	name        ident.Name
	fields      []Field
	byName      map[ident.Name]int
	arrow       *arrow.Schema
	fingerprint Fingerprint
}

// NewSchema builds a schema. The caller has checked that names are unique; the slice is copied.
func NewSchema(name ident.Name, fields []Field) *Schema {
	s := &Schema{name: name, fields: append([]Field(nil), fields...), byName: make(map[ident.Name]int, len(fields))}
	columns := make([]arrow.Field, len(fields))
	var layout strings.Builder
	for i, f := range s.fields {
		s.byName[f.Name] = i
		columns[i] = arrow.Field{Name: string(f.Name), Type: f.Type.Arrow(), Nullable: f.Optional}
		layout.WriteString(string(f.Name) + " " + f.Type.String())
		if f.Optional {
			layout.WriteString(" OPTIONAL")
		}
		layout.WriteByte('\n')
	}
	s.arrow = arrow.NewSchema(columns, nil)
	s.fingerprint = sha256.Sum256([]byte(layout.String()))
	return s
}

// Name is the schema's name.
func (s *Schema) Name() ident.Name { return s.name }

// Len is the number of fields.
func (s *Schema) Len() int { return len(s.fields) }

// Field gives the i-th field.
func (s *Schema) Field(i int) Field { return s.fields[i] }

// Fields is the list of fields; it must not be changed.
func (s *Schema) Fields() []Field { return s.fields }

// Index finds a field by name.
func (s *Schema) Index(name ident.Name) (int, bool) {
	i, ok := s.byName[name]
	return i, ok
}

// Arrow is the Arrow schema of a record batch of this schema. It is shared and must not be changed.
func (s *Schema) Arrow() *arrow.Schema { return s.arrow }

// Fingerprint identifies the layout; stored state is keyed by it (nspl 4).
func (s *Schema) Fingerprint() Fingerprint { return s.fingerprint }
