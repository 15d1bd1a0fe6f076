// SPDX-License-Identifier: Apache-2.0

package verify_test

import (
	"encoding/binary"
	"errors"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/nervix-go/nervix/host/wire/verify"
)

// tree is a schema with what the session schema lacks: recursion, flags, structs, and vectors of numbers, enumerations and structs.
var tree = verify.Schema{
	Name: "tree",
	Tables: []verify.Table{{Name: "Node", Identifier: "TREE", Slots: 6, Cost: 100, Fields: []verify.Field{
		{Name: "child", Slot: 0, Kind: verify.KindTable},
		{Name: "flags", Slot: 1, Kind: verify.KindEnum, Size: 2, Align: 2, ZeroDefault: true},
		{Name: "point", Slot: 2, Kind: verify.KindStruct, Size: 16, Align: 8},
		{Name: "colours", Slot: 3, Kind: verify.KindVector, Elem: verify.KindEnum, Size: 1, Align: 1, Ref: 1},
		{Name: "longs", Slot: 4, Kind: verify.KindVector, Elem: verify.KindScalar, Size: 8, Align: 8, Rules: verify.Nonempty},
		{Name: "points", Slot: 5, Kind: verify.KindVector, Elem: verify.KindStruct, Size: 16, Align: 8},
	}}},
	Enums: []verify.Enum{{Name: "Flags", Flags: true, Values: []uint64{1, 4}}, {Name: "Colour", Values: []uint64{1, 0xffffffffffffffff}}},
}

// nested builds n nodes inside one another.
func nested(n int) []byte {
	b := flatbuffers.NewBuilder(64)
	var child flatbuffers.UOffsetT
	for range n {
		b.StartObject(6)
		b.PrependUOffsetTSlot(0, child, 0)
		child = b.EndObject()
	}
	b.FinishWithFileIdentifier(child, []byte("TREE"))
	return b.FinishedBytes()
}

// node builds one node whose member in a slot is a vector or struct made by fill.
func node(fill func(b *flatbuffers.Builder) (inside func())) []byte {
	b := flatbuffers.NewBuilder(64)
	inside := fill(b)
	b.StartObject(6)
	inside()
	root := b.EndObject()
	b.FinishWithFileIdentifier(root, []byte("TREE"))
	return b.FinishedBytes()
}

func flags(v uint16) []byte {
	return node(func(b *flatbuffers.Builder) func() { return func() { b.PrependUint16(v); b.Slot(1) } })
}

func colours(list ...int8) []byte {
	return node(func(b *flatbuffers.Builder) func() {
		b.StartVector(1, len(list), 1)
		for i := len(list) - 1; i >= 0; i-- {
			b.PrependInt8(list[i])
		}
		v := b.EndVector(len(list))
		return func() { b.PrependUOffsetTSlot(3, v, 0) }
	})
}

func wide(slot, elementSize, count, align int) []byte {
	return node(func(b *flatbuffers.Builder) func() {
		b.StartVector(elementSize, count, align)
		for range count * elementSize {
			b.PlaceByte(7)
		}
		v := b.EndVector(count)
		return func() { b.PrependUOffsetTSlot(slot, v, 0) }
	})
}

func point() []byte {
	return node(func(b *flatbuffers.Builder) func() {
		return func() {
			b.Prep(8, 16)
			b.PlaceUint64(1)
			b.PlaceUint64(2)
			b.PrependStructSlot(2, b.Offset(), 0)
		}
	})
}

func rule(frame []byte, limits verify.Limits) verify.Rule {
	err := verify.Verify(&tree, 0, frame, limits)
	var v *verify.Violation
	if errors.As(err, &v) {
		return v.Rule
	}
	return ""
}

func TestFormsOfTheTreeSchema(t *testing.T) {
	// req: X-027
	// req: X-028
	limits := verify.DefaultLimits()
	shallow := limits
	shallow.MaxEntries = 3
	misaligned := wide(4, 8, 2, 8)
	// The reference of the only member moves by four: the vector's elements are then at a multiple of four, not of eight.
	root := binary.LittleEndian.Uint32(misaligned)
	vtable := root - binary.LittleEndian.Uint32(misaligned[root:])
	at := root + uint32(binary.LittleEndian.Uint16(misaligned[vtable+4+8:]))
	moved := append([]byte(nil), misaligned...)
	binary.LittleEndian.PutUint32(moved[at:], binary.LittleEndian.Uint32(moved[at:])-4)
	binary.LittleEndian.PutUint32(moved[at+binary.LittleEndian.Uint32(moved[at:]):], 2)

	for _, c := range []struct {
		name   string
		frame  []byte
		limits verify.Limits
		want   verify.Rule
	}{
		{"64 levels", nested(64), limits, ""},
		{"65 levels", nested(65), limits, verify.RuleDepth},
		{"declared flags", flags(5), limits, ""},
		{"undeclared flag", flags(2), limits, verify.RuleEnum},
		{"declared elements, one negative", colours(1, -1), limits, ""},
		{"undeclared element", colours(1, 2), limits, verify.RuleEnum},
		{"struct", point(), limits, ""},
		{"vector of longs", wide(4, 8, 2, 8), limits, ""},
		{"vector of structs", wide(5, 16, 2, 8), limits, ""},
		{"vector not aligned", moved, limits, verify.RuleAlignment},
		{"empty vector", wide(4, 8, 0, 8), limits, verify.RuleEmpty},
		{"entries", wide(4, 8, 4, 8), shallow, verify.RuleEntries},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := rule(c.frame, c.limits); got != c.want {
				t.Fatalf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAdditiveLimitsAllowUnknownMembers(t *testing.T) {
	b := flatbuffers.NewBuilder(64)
	b.StartObject(9)
	b.PrependUint64(1)
	b.Slot(8)
	b.FinishWithFileIdentifier(b.EndObject(), []byte("TREE"))
	limits := verify.DefaultLimits()
	if got := rule(b.FinishedBytes(), limits); got != verify.RuleUnknownMember {
		t.Fatalf("strict: got %q", got)
	}
	limits.Additive = true
	if got := rule(b.FinishedBytes(), limits); got != "" {
		t.Fatalf("additive: got %q", got)
	}
}

// FuzzVerify: whatever the bytes, the verifier ends and answers the same twice.
func FuzzVerify(f *testing.F) {
	for _, frame := range [][]byte{nested(3), flags(5), colours(1, -1), point(), wide(4, 8, 2, 8), wide(5, 16, 2, 8)} {
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		limits := verify.DefaultLimits()
		if a, b := rule(frame, limits), rule(frame, limits); a != b {
			t.Fatalf("%q, then %q", a, b)
		}
	})
}
