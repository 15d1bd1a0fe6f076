// SPDX-License-Identifier: Apache-2.0

package guest

import "strconv"

// Kind is the kind of a type.
type Kind uint8

// The kinds, numbered as on the wire.
const (
	U8 Kind = iota
	I8
	U16
	I16
	U32
	I32
	U64
	I64
	Bool
	String
	Bytes
	Datetime
	F32
	F64
	Array
	Vec
)

var kindWords = [...]string{"U8", "I8", "U16", "I16", "U32", "I32", "U64", "I64", "BOOL", "STRING", "BYTES", "DATETIME", "F32", "F64", "ARRAY", "VEC"}

// String is the word of NSPL.
func (k Kind) String() string {
	if int(k) < len(kindWords) {
		return kindWords[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// width is the size of a value in bytes, 0 where values have none.
func (k Kind) width() uint32 {
	const widths = "\x01\x01\x02\x02\x04\x04\x08\x08\x00\x00\x00\x08\x04\x08\x00\x00"
	return uint32(widths[k])
}

// Type is the type of a field. An ARRAY of several axes is an Array of Arrays, outer axis first.
type Type struct {
	Kind    Kind
	Length  uint32 // of Array
	Element *Type  // of Array and Vec
}

// Equal says whether two types are the same.
func (t *Type) Equal(o *Type) bool {
	for ; t != o; t, o = t.Element, o.Element {
		if t == nil || o == nil || t.Kind != o.Kind || t.Length != o.Length {
			return false
		}
	}
	return true
}

// String is the spelling of NSPL: VEC<ARRAY<F32, 2, 3>>.
func (t *Type) String() string {
	switch t.Kind {
	case Vec:
		return "VEC<" + t.Element.String() + ">"
	case Array:
		axes := ""
		for ; t.Kind == Array; t = t.Element {
			axes += ", " + strconv.FormatUint(uint64(t.Length), 10)
		}
		return "ARRAY<" + t.String() + axes + ">"
	default:
		return t.Kind.String()
	}
}

// Field is a field of a schema.
type Field struct {
	Name     string
	Type     *Type
	Optional bool
}

func (f *Field) spelling() string {
	if f.Optional {
		return f.Type.String() + " OPTIONAL"
	}
	return f.Type.String()
}

// Schema is the schema of the input, or of an output, whose name is then that of the relay.
type Schema struct {
	Name   string
	Fields []Field
}

// String is the fields in the words of NSPL: "sensor STRING, value F64 OPTIONAL".
func (s *Schema) String() string {
	text := ""
	for i := range s.Fields {
		if i > 0 {
			text += ", "
		}
		text += s.Fields[i].Name + " " + s.Fields[i].spelling()
	}
	return text
}

// Is says whether the schema has exactly these fields. Names, types, nullability and order count, and the spelling is that of String.
func (s *Schema) Is(fields string) bool { return s.String() == fields }

// Find gives the number of a field, or -1.
func (s *Schema) Find(name string) int {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// Require gives the number of a field that has to have this type, for instance "F64 OPTIONAL"; an empty type accepts any.
func (s *Schema) Require(name, typ string) (int, error) {
	i := s.Find(name)
	if i < 0 {
		return 0, Failure(s.Name + " has no field " + name + ", which this guest needs")
	}
	if have := s.Fields[i].spelling(); typ != "" && have != typ {
		return 0, Failure("field " + name + " of " + s.Name + " is " + have + ", this guest needs " + typ)
	}
	return i, nil
}

func (s *Schema) equal(o *Schema) bool {
	if s.Name != o.Name || len(s.Fields) != len(o.Fields) {
		return false
	}
	for i := range s.Fields {
		a, b := &s.Fields[i], &o.Fields[i]
		if a.Name != b.Name || a.Optional != b.Optional || !a.Type.Equal(b.Type) {
			return false
		}
	}
	return true
}

// Init is what the host says about this branch. It lives as long as the instance.
type Init struct {
	DomainName, DomainType string
	// Branched says that there is a key; an empty key stands for nothing.
	Branched bool
	// BranchKey is the key as canonical JSON text, {"tenant":"alpha"} for instance.
	BranchKey string
	Input     *Schema
	Outputs   []*Schema // one for each TO, named like its relay
}

// RequireInput holds the input against what the guest was written for, spelled like Schema.String. The error says both.
func (i *Init) RequireInput(fields string) error { return i.Input.require("the input ", fields) }

// RequireOutput finds the output of a relay and holds it against what the guest was written for; empty fields accept any.
func (i *Init) RequireOutput(relay, fields string) (*Schema, error) {
	for _, s := range i.Outputs {
		if s.Name != relay {
			continue
		}
		if fields == "" {
			return s, nil
		}
		return s, s.require("the output ", fields)
	}
	return nil, Failure("the processor has no output " + relay + ", which this guest needs")
}

func (s *Schema) require(what, fields string) error {
	if s.Is(fields) {
		return nil
	}
	return Failure(what + s.Name + " has the fields (" + s.String() + "), this guest needs (" + fields + ")")
}

// sameBranch says whether state saved under i belongs to a branch with o: all but the name of the domain agrees (W-125).
func (i *Init) sameBranch(o *Init) bool {
	if i.DomainType != o.DomainType || i.Branched != o.Branched || i.BranchKey != o.BranchKey || !i.Input.equal(o.Input) || len(i.Outputs) != len(o.Outputs) {
		return false
	}
	for k := range i.Outputs {
		if !i.Outputs[k].equal(o.Outputs[k]) {
			return false
		}
	}
	return true
}
