// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

func TestInstants(t *testing.T) {
	// req: W-311
	for _, ns := range []int64{math.MinInt64, math.MaxInt64, 0, -1, 1} {
		at := Epoch.Add(Duration(ns))
		if got := at.Sub(Epoch).Nanoseconds(); got != ns {
			t.Errorf("%d comes back as %d", ns, got)
		}
		w := &StateWriter{}
		w.Time(at)
		if r := (&StateReader{state: w.out}); r.Time() != at || r.End() != nil {
			t.Errorf("%d does not survive saving", ns)
		}
	}
	first, last := Epoch.Add(math.MinInt64), Epoch.Add(math.MaxInt64)
	if last.Add(1) != last || first.Add(-1) != first || last.Sub(first) != math.MaxInt64 || first.Sub(last) != math.MinInt64 {
		t.Error("arithmetic leaves the ends")
	}
	if !first.Before(Epoch) || Epoch.Before(first) || Epoch.Before(Epoch) {
		t.Error("the order of instants is wrong")
	}
	var seen []Time
	b := began(t, &sketch{batch: func(c *Call, batch *Batch) error {
		for i := range batch.Rows() {
			seen = append(seen, batch.Column(2).Time(i))
		}
		seen = append(seen, c.Now())
		return nil
	}}, plainInit())
	b.fake.now = math.MinInt64
	b.ok(b.batch([]any{"a", 1, first}, []any{"a", 1, last}, []any{"a", 1, Epoch.Add(-1)}))
	for i, want := range []Time{first, last, Epoch.Add(-1), first} {
		if seen[i] != want {
			t.Errorf("instant %d is %v instead of %v", i, seen[i], want)
		}
	}
}

// sources are the files of the kit without tests.
func sources(t *testing.T) []*ast.File {
	var all []*ast.File
	set := token.NewFileSet()
	for _, dir := range []string{".", "internal/flat"} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go") {
				f, err := parser.ParseFile(set, dir+"/"+e.Name(), nil, parser.SkipObjectResolution)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, f)
			}
		}
	}
	return all
}

func TestNoNumberIsAnInstant(t *testing.T) {
	// req: W-311
	numbers := map[string]bool{"Int64": true, "Int64s": true, "Nanoseconds": true} // values of I64 columns and state, and the length of a duration
	for _, f := range sources(t) {
		if f.Name.Name != "guest" {
			continue
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() || numbers[fn.Name.Name] || unexportedReceiver(fn) {
				continue
			}
			ast.Inspect(fn.Type, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && id.Name == "int64" {
					t.Errorf("%s takes or gives an int64", fn.Name.Name)
				}
				return true
			})
		}
	}
}

func unexportedReceiver(fn *ast.FuncDecl) bool {
	if fn.Recv == nil {
		return false
	}
	typ := fn.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && !id.IsExported()
}

func TestTinyGoClean(t *testing.T) {
	// req: W-244 half: what TinyGo cannot do is not used; TinyGo itself is not run here
	allowed := map[string]bool{"strconv": true, "unsafe": true, "math": true, "github.com/nervix-go/nervix/wasm/guest/go/internal/flat": true}
	for _, f := range sources(t) {
		for _, i := range f.Imports {
			if path := strings.Trim(i.Path.Value, `"`); !allowed[path] {
				t.Errorf("package %s imports %s", f.Name.Name, path)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.GoStmt, *ast.SelectStmt, *ast.ChanType, *ast.SendStmt:
				t.Errorf("package %s uses goroutines", f.Name.Name)
			}
			return true
		})
	}
}

const allTypes = `a U8, b I8 OPTIONAL, c U16, d I16 OPTIONAL, e U32, f I32 OPTIONAL, g U64, h I64 OPTIONAL, i F32, j F64 OPTIONAL, k BOOL, l BOOL OPTIONAL,
m STRING, n STRING OPTIONAL, o BYTES, p BYTES OPTIONAL, q DATETIME, r DATETIME OPTIONAL, s VEC<I64>, t VEC<STRING> OPTIONAL,
u ARRAY<F32, 2, 3>, v ARRAY<BOOL, 4> OPTIONAL, w VEC<ARRAY<F32, 6>>, x VEC<VEC<BYTES>> OPTIONAL, y ARRAY<STRING, 2> OPTIONAL, z VEC<DATETIME>`

// anything makes a value up.
func anything(d *rand.Rand, typ *Type) any {
	bits := d.Uint64() >> d.IntN(64)
	switch typ.Kind {
	case U8:
		return uint8(bits)
	case I8:
		return int8(bits)
	case U16:
		return uint16(bits)
	case I16:
		return int16(bits)
	case U32:
		return uint32(bits)
	case I32:
		return int32(bits)
	case U64:
		return bits
	case I64:
		return int64(bits)
	case F32:
		return []float32{0, float32(d.NormFloat64()), float32(math.Inf(1)), math.MaxFloat32}[d.IntN(4)]
	case F64:
		return []float64{0, d.NormFloat64(), math.Inf(-1), math.SmallestNonzeroFloat64}[d.IntN(4)]
	case Bool:
		return d.IntN(2) == 0
	case String:
		return []string{"", "text", "\u00e4\u20ac\U0001F331", "a\x00b"}[d.IntN(4)]
	case Bytes:
		return [][]byte{{}, {0x00, 0xFF, 0xC3, 0x28}}[d.IntN(2)]
	case Datetime:
		return Time{int64(bits)}
	}
	n := d.IntN(4)
	if typ.Kind == Array {
		n = int(typ.Length)
	}
	all := make([]any, n)
	for i := range all {
		all[i] = anything(d, typ.Element)
	}
	return all
}

func TestEveryTypeRoundTrips(t *testing.T) {
	// req: W-056 half: through the reader and the writer of the kit
	desc := &Init{Input: schema("in", allTypes), Outputs: []*Schema{schema("out", allTypes)}}
	if got := desc.Input.String(); got != strings.ReplaceAll(allTypes, "\n", " ") {
		t.Errorf("the schema is spelled %s", got)
	}
	b := began(t, &sketch{batch: func(c *Call, batch *Batch) error {
		out, to := c.Output(), c.Init().Outputs[0]
		route := out.Route(to)
		for i := range batch.Columns() {
			g := out.GenerateAt(to, i)
			for row := range batch.Rows() {
				fill(g, read(batch.Column(i), row))
			}
			route.FromGenerated(g)
		}
		route.CarryAll(batch)
		return c.Emit(out)
	}}, desc)
	d := rand.New(rand.NewPCG(1, 2))
	for _, rows := range []int{0, 1, 2, 9, 64, 300} {
		all := make([][]any, rows)
		for i := range all {
			for _, f := range desc.Input.Fields {
				v := anything(d, f.Type)
				if f.Optional && d.IntN(3) == 0 {
					v = nil
				}
				all[i] = append(all[i], v)
			}
		}
		b.ok(b.batch(all...))
		got := b.said()
		o := &Output{init: desc}
		var want strings.Builder
		for i, f := range desc.Input.Fields {
			want.WriteString("gen" + itoa(i) + " " + f.spelling() + ":")
			for _, row := range all {
				want.WriteString(" " + show(row[i]))
			}
			want.WriteString("\n")
		}
		_ = o
		if _, columns, _ := strings.Cut(got, "\n"); columns != want.String() {
			t.Fatalf("%d rows come back as\n%s\ninstead of\n%s", rows, columns, want.String())
		}
	}
}
