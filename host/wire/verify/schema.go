// SPDX-License-Identifier: Apache-2.0

// Package verify judges FlatBuffers of foreign origin before anything is read from them. The Go runtime of FlatBuffers has no verifier
// and panics on damaged input; after Verify has accepted a buffer, every accessor of the generated code is safe on it.
//
// A schema is a table, generated from the reflected schema by host/wire/generate.sh. The package is pure: the same bytes, schema and
// limits give the same answer.
package verify

// Kind is the wire form of a member or of an element of a vector.
type Kind uint8

// The wire forms. KindUnion is the value of a union; its type member stands in the slot before it and is judged with it. KindBool is a
// byte that is 0 or 1.
const (
	KindScalar Kind = iota
	KindBool
	KindEnum
	KindString
	KindTable
	KindStruct
	KindUnion
	KindVector
)

// Rules are demands on a member beyond its form. They come from the schema's keywords and attributes.
type Rules uint16

// The rules; see the attributes of host/wire/fbs/session.fbs.
const (
	Required  Rules = 1 << iota // the reference must be there
	Present                     // the optional scalar must be there
	Nonzero                     // the scalar may not be zero, nor absent with a zero default
	Nonempty                    // a string or vector that is there has at least one element
	Canonical                   // a vector of strings is strictly ascending
)

// Schema describes every table, enumeration and union that a root can reach.
type Schema struct {
	Name   string
	Tables []Table
	Enums  []Enum
	Unions []Union
}

// Table describes one table type.
type Table struct {
	Name string
	// Identifier is the four-byte identifier of a root table; empty for all others.
	Identifier string
	Fields     []Field
	// Slots is the number of vtable slots the schema knows, deprecated ones included.
	Slots int
	// Cost is what one decoded object of this table takes in memory, without strings and elements of vectors; an estimate from above.
	Cost int
}

// Field describes one member.
type Field struct {
	Name string
	Slot int
	Kind Kind
	// Elem is the form of the elements when Kind is KindVector.
	Elem Kind
	// Size and Align are those of a scalar, enumeration or struct, of the member itself or of the elements of a vector.
	Size, Align int
	// Ref is the index of the table, enumeration or union that the member or its elements have.
	Ref   int
	Rules Rules
	// MaxBytes bounds a string; zero is no bound beyond the frame.
	MaxBytes int
	// ZeroDefault says that an absent scalar reads as zero.
	ZeroDefault bool
}

// Enum describes an enumeration. Values are ascending; negative values are sign-extended to 64 bits.
type Enum struct {
	Name string
	// Flags says that any combination of the values is declared.
	Flags  bool
	Values []uint64
}

// Union maps the type number of a union to a table; zero is NONE and is not listed.
type Union struct {
	Name   string
	Tables []UnionCase
}

// UnionCase is one declared type of a union.
type UnionCase struct {
	Type  uint8
	Table int
}
