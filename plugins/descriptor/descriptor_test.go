// SPDX-License-Identifier: Apache-2.0

package descriptor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func good() Descriptor {
	return Descriptor{
		Kind: "file", Protocol: Range{1, 2}, Client: []Option{{Name: "root", Type: TypePath, Required: true}},
		Source: &Source{Options: []Option{{Name: "n", Type: TypeUint, Default: "5"}}, Metadata: []Column{{"line", ColumnI64}}, Position: []string{"offset"}},
		SHA256: strings.Repeat("ab", 32),
	}
}

func TestRoundTrip(t *testing.T) {
	b, err := good().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(b)
	if err != nil || cmp.Diff(good(), got) != "" {
		t.Fatalf("%v %s", err, cmp.Diff(good(), got))
	}
	if !got.Speaks() {
		t.Error("1..2 does not speak 1")
	}
}

func TestParseRefuses(t *testing.T) {
	// req: P-004 half: the refusal of the kind is in supervise's tests
	for want, spoil := range map[string]func(*Descriptor){
		"not a lower-case name": func(d *Descriptor) { d.Kind = "../x" },
		"is empty":              func(d *Descriptor) { d.Protocol = Range{3, 2} },
		"neither source":        func(d *Descriptor) { d.Source = nil },
		"no valid sha256":       func(d *Descriptor) { d.SHA256 = "abc" },
		"has type \"float\"":    func(d *Descriptor) { d.Client[0].Type = "float" },
		"has type \"F64\"":      func(d *Descriptor) { d.Source.Metadata[0].Type = "F64" },
	} {
		d := good()
		spoil(&d)
		b, err := d.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := Parse([]byte("{")); err == nil {
		t.Error("broken JSON passed")
	}
	if _, err := Parse(make([]byte, MaxBytes+1)); err == nil {
		t.Error("an endless file passed")
	}
}

func TestCheckOptions(t *testing.T) {
	schema := []Option{{Name: "path", Type: TypePath, Required: true}, {Name: "n", Type: TypeUint, Default: "5"}, {Name: "b", Type: TypeBool}, {Name: "s", Type: TypeString}}
	got, err := CheckOptions(schema, map[string]string{"path": "a", "b": "true"})
	if want := map[string]string{"path": "a", "b": "true", "n": "5"}; err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("%v %v", got, err)
	}
	for want, given := range map[string]map[string]string{
		"path is required":         {},
		"path must be a path":      {"path": ""},
		"n must be a whole number": {"path": "a", "n": "-1"},
		"b must be true or false":  {"path": "a", "b": "secret-value"},
		"colour is not known":      {"path": "a", "colour": "secret-value"},
	} {
		if _, err := CheckOptions(schema, given); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret-value") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	b, _ := good().Marshal()
	f.Add(b)
	f.Add([]byte(`{"kind":"x"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if d, err := Parse(b); err == nil && d.Check() != nil {
			t.Fatal("a bad descriptor passed")
		}
	})
}
