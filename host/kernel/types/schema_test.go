// SPDX-License-Identifier: Apache-2.0

package types

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"pgregory.net/rapid"
)

func anyType(t *rapid.T, depth int) Type {
	kind := Scalar(rapid.IntRange(int(U8), int(Vec)).Draw(t, "scalar"))
	if depth == 0 && kind > Datetime {
		kind = I64
	}
	switch kind {
	case Array:
		elem := anyType(t, depth-1)
		return Type{Scalar: Array, Elem: &elem, Dims: rapid.SliceOfN(rapid.Uint32Range(1, 3), 1, 3).Draw(t, "dims")}
	case Vec:
		elem := anyType(t, depth-1)
		return Type{Scalar: Vec, Elem: &elem}
	default:
		return Of(kind)
	}
}

// Nothing converts implicitly, so types are equal exactly when they read the same; and types that differ in Arrow are never equal.
func TestTypeEqualityFollowsItsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyType(t, 2), anyType(t, 2)
		if !a.Equal(a) {
			t.Fatalf("%s differs from itself", a)
		}
		if a.Equal(b) != (a.String() == b.String()) || a.Equal(b) != b.Equal(a) {
			t.Fatalf("%s and %s: equal %v", a, b, a.Equal(b))
		}
		if a.Equal(b) && !arrow.TypeEqual(a.Arrow(), b.Arrow()) {
			t.Fatalf("%s has two Arrow types", a)
		}
	})
}

func TestScalars(t *testing.T) {
	seen := map[string]Scalar{}
	for s := U8; s <= Datetime; s++ {
		if back, ok := ParseScalar(s.String()); !ok || back != s {
			t.Errorf("%s is read as %s, %v", s, back, ok)
		}
		at := s.Arrow()
		if at == nil {
			t.Fatalf("%s has no Arrow type", s)
		}
		if other, ok := seen[at.String()]; ok {
			t.Errorf("%s and %s share the Arrow type %s", s, other, at)
		}
		seen[at.String()] = s
		if w, ok := at.(arrow.FixedWidthDataType); ok && s.Numeric() && w.BitWidth() != s.Bits() {
			t.Errorf("%s has %d bits, Arrow %d", s, s.Bits(), w.BitWidth())
		}
		if s.Numeric() != (s.Integer() || s.Float()) || s.Integer() && s.Float() || s.Ordered() != (s.Numeric() || s == String || s == Datetime) {
			t.Errorf("%s: classes contradict each other", s)
		}
	}
	for long, s := range longWords {
		if back, ok := ParseScalar(long); !ok || back != s {
			t.Errorf("%s is read as %s, %v", long, back, ok)
		}
	}
	for _, word := range []string{"", "u8", "ARRAY", "VEC", "INVALID", "FLOAT"} {
		if s, ok := ParseScalar(word); ok {
			t.Errorf("%q is read as %s", word, s)
		}
	}
	if ts := Datetime.Arrow().(*arrow.TimestampType); ts.Unit != arrow.Nanosecond || ts.TimeZone != "+00:00" {
		t.Errorf("DATETIME is %s", ts)
	}
}

func TestArrayIsNestedFromOutsideIn(t *testing.T) {
	elem := Of(F32)
	at := Type{Scalar: Array, Elem: &elem, Dims: []uint32{2, 3}}.Arrow().(*arrow.FixedSizeListType)
	inner, ok := at.Elem().(*arrow.FixedSizeListType)
	if !ok || at.Len() != 2 || inner.Len() != 3 || inner.Elem().ID() != arrow.FLOAT32 {
		t.Fatalf("ARRAY<F32, 2, 3> is %s, want 2 rows of 3", at)
	}
	if at.ElemField().Nullable || inner.ElemField().Nullable {
		t.Fatal("elements must not be nullable")
	}
}

func TestSchemaFingerprintIsTheLayout(t *testing.T) {
	base := []Field{{Name: "a", Type: Of(I64)}, {Name: "b", Type: Of(String), Optional: true}}
	s := NewSchema("one", base)
	changed := func(change func([]Field)) *Schema {
		fields := append([]Field(nil), base...)
		change(fields)
		return NewSchema("two", fields)
	}
	for name, other := range map[string]*Schema{
		"type":     changed(func(f []Field) { f[0].Type = Of(I32) }),
		"null":     changed(func(f []Field) { f[1].Optional = false }),
		"name":     changed(func(f []Field) { f[0].Name = "c" }),
		"order":    changed(func(f []Field) { f[0], f[1] = f[1], f[0] }),
		"one less": NewSchema("one", base[:1]),
	} {
		if other.Fingerprint() == s.Fingerprint() {
			t.Errorf("%s: a changed layout kept its fingerprint", name)
		}
	}
	if changed(func(f []Field) { f[0].Sensitive = true }).Fingerprint() != s.Fingerprint() {
		t.Error("sensitivity is not layout: stored state would be lost when it changes")
	}
	base[0].Name = "spoiled"
	if s.Field(0).Name != "a" {
		t.Error("the schema kept the caller's slice")
	}
	i, ok := s.Index("b")
	if f := s.Arrow().Field(1); !ok || i != 1 || f.Name != "b" || !f.Nullable || s.Arrow().Field(0).Nullable {
		t.Errorf("Arrow schema %s, index %d, %v", s.Arrow(), i, ok)
	}
	if s.Field(0).SameShape(Field{Type: Of(I64), Optional: true}) || !s.Field(0).SameShape(Field{Name: "z", Type: Of(I64), Sensitive: true}) {
		t.Error("shape is type and nullability")
	}
}
