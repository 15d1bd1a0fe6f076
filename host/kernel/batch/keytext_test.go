// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// keySchema has an optional field of each type that a branch key may hold, in no particular order.
func keySchema() *types.Schema {
	var fields []types.Field
	for s := types.Datetime; s >= types.U8; s-- {
		if s != types.Bytes {
			fields = append(fields, types.Field{Name: ident.Name(strings.ToLower(s.String())), Type: types.Of(s), Optional: true})
		}
	}
	return types.NewSchema("k", fields)
}

func TestKeyTextIsCanonical(t *testing.T) {
	// req: R-009 half: one key a record; the branch instances are the runtime's
	schema := keySchema()
	form := NewKeyForm("by_k", schema)
	rapid.Check(t, func(t *rapid.T) {
		alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
		b := array.NewRecordBuilder(alloc, schema.Arrow())
		for range 4 {
			for c := range schema.Len() {
				if rapid.Bool().Draw(t, "usual") {
					b.Field(c).AppendEmptyValue()
				} else {
					fill(t, b.Field(c), true)
				}
			}
		}
		whole := b.NewRecordBatch()
		b.Release()
		record := whole.NewSlice(1, 4)
		whole.Release()
		columns := record.Columns()
		texts := make([]string, 3)
		for row := range texts {
			texts[row] = string(form.AppendText(nil, columns, row))
			checkKeyJSON(t, texts[row], schema)
		}
		for a := range texts {
			for c := range texts {
				if same := form.Same(columns, a, c); same && texts[a] != texts[c] {
					t.Fatalf("rows called the same have the keys %s and %s", texts[a], texts[c])
				}
				if (texts[a] == texts[c]) != sameRow(columns, a, c) {
					t.Fatalf("rows %d and %d have the keys %s and %s", a, c, texts[a], texts[c])
				}
			}
		}
		k, twin := form.Key(texts[2], columns, 2), form.Key(texts[2], columns, 2)
		record.Release()
		leaks(t, alloc) // a live branch must not hold the ingest batch its key came from
		if !k.Equal(twin) || k.Fingerprint() != twin.Fingerprint() || HashOf(k) != HashOf(twin) {
			t.Fatal("two keys of one row differ")
		}
		if got := string(form.AppendText(nil, k.Values.Columns(), 0)); got != texts[2] || k.Values.NumRows() != 1 {
			t.Fatalf("the values of the key read %s, want %s", got, texts[2])
		}
	})
}

// sameRow compares rows by the exact text of their values, with both zeros equal.
func sameRow(columns []arrow.Array, a, b int) bool {
	for _, c := range columns {
		va, vb := c.ValueStr(a), c.ValueStr(b)
		if id := c.DataType().ID(); id == arrow.FLOAT32 || id == arrow.FLOAT64 {
			va, vb = strings.Replace(va+";", "-0;", "0;", 1), strings.Replace(vb+";", "-0;", "0;", 1)
		}
		if c.IsNull(a) != c.IsNull(b) || va != vb {
			return false
		}
	}
	return true
}

func checkKeyJSON(t *rapid.T, text string, schema *types.Schema) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var names []string
	if tok, err := d.Token(); err != nil || tok != json.Delim('{') {
		t.Fatalf("%s: %v, %v", text, tok, err)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if _, err := d.Token(); err != nil {
			t.Fatalf("%s: value of %v: %v", text, name, err)
		}
		names = append(names, fmt.Sprint(name))
	}
	if !slices.IsSorted(names) || len(names) != schema.Len() || strings.ContainsAny(text, "\n\t\r") {
		t.Fatalf("%s: not compact, sorted and complete", text)
	}
}

func TestKeyIdentityIncludesTheBranch(t *testing.T) {
	// req: R-005 half: the identity; that omission is refused is the language's
	a, b := &Key{Branch: "one", Text: `{"k":1}`, Hash: 1}, &Key{Branch: "two", Text: `{"k":1}`, Hash: 1}
	if a.Equal(b) || a.Fingerprint() == b.Fingerprint() {
		t.Fatal("two branches over one schema share a key")
	}
	var none *Key
	if none.Equal(a) || a.Equal(none) || !none.Equal(nil) || HashOf(none) != 0 {
		t.Fatal("an absent key")
	}
	if f := a.Fingerprint(); len(f) != 32 || f != strings.ToLower(f) || strings.Contains(f, "k") {
		t.Fatalf("fingerprint %s", f)
	}
}
