// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

func named(name ident.Name) ast.Create { return ast.Create{Name: ast.Ident{Name: name}} }

func field(name ident.Name, t types.Type) ast.FieldDecl {
	return ast.FieldDecl{Name: ast.Ident{Name: name}, Type: t}
}

// TestTreesTheParserRefuses shows that the checks do not rely on the parser: definitions may come from another release.
func TestTreesTheParserRefuses(t *testing.T) {
	// req: R-014
	// req: R-039 half: storage and restart are shown where they are
	text := types.Of(types.String)
	bytes := types.Of(types.Bytes)
	none := ident.Name("none")
	for _, test := range []struct {
		name string
		defs []ast.Statement
		code fault.Code
		want string
	}{
		{"relay named branch", []ast.Statement{
			&ast.CreateSchema{Create: named("s"), Fields: []ast.FieldDecl{field("a", text)}},
			&ast.CreateRelay{Create: named("branch"), Schema: ast.Ident{Name: "s"}, Capacity: ast.Uint{Value: 1}},
		}, fault.ModelName, "branch cannot name a relay"},
		{"capacity 0", []ast.Statement{
			&ast.CreateSchema{Create: named("s"), Fields: []ast.FieldDecl{field("a", text)}},
			&ast.CreateRelay{Create: named("r"), Schema: ast.Ident{Name: "s"}},
		}, fault.ModelRange, "1..18446744073709551615 batches"},
		{"empty schema", []ast.Statement{&ast.CreateSchema{Create: named("s")}}, fault.ModelEmpty, "at least one field"},
		{"empty wire schema", []ast.Statement{&ast.CreateWire{Create: named("w"), Kind: ident.KindWireJSON}}, fault.ModelEmpty, "at least one field"},
		{"unknown wire type", []ast.Statement{
			&ast.CreateWire{Create: named("w"), Kind: ident.KindWireJSON, Fields: []ast.WireField{{Name: "a", Type: "DECIMAL"}}},
		}, fault.ModelCodec, "DECIMAL is no type of a JSON wire schema"},
		{"array axis 0", []ast.Statement{
			&ast.CreateSchema{Create: named("s"), Fields: []ast.FieldDecl{field("a", types.Type{Scalar: types.Array, Elem: &text, Dims: []uint32{2, 0}})}},
		}, fault.ModelBound, "array axis of field a is 0"},
		{"array axis too long, in a list", []ast.Statement{
			&ast.CreateSchema{Create: named("s"), Fields: []ast.FieldDecl{field("a", types.Type{Scalar: types.Vec,
				Elem: &types.Type{Scalar: types.Array, Elem: &text, Dims: []uint32{1 << 31}}})}},
		}, fault.ModelBound, "array axis of field a is 2147483648"},
		{"BYTES in a key", []ast.Statement{
			&ast.CreateSchema{Create: named("s"), Fields: []ast.FieldDecl{field("a", types.Type{Scalar: types.Vec, Elem: &bytes})}},
			&ast.CreateBranch{Create: named("b"), Schema: ast.Ident{Name: "s"}, TTL: ast.Duration{NS: 1}},
		}, fault.ModelPlacement, "field a holds BYTES"},
		{"TTL 0", []ast.Statement{
			&ast.CreateSchema{Create: named("s"), Fields: []ast.FieldDecl{field("a", text)}},
			&ast.CreateBranch{Create: named("b"), Schema: ast.Ident{Name: "s"}},
		}, fault.ModelRange, "longer than zero"},
		{"MAX INSTANCES 0", []ast.Statement{
			&ast.CreateSchema{Create: named("s"), Fields: []ast.FieldDecl{field("a", text)}},
			&ast.CreateBranch{Create: named("b"), Schema: ast.Ident{Name: "s"}, TTL: ast.Duration{NS: 1}, MaxInstances: &ast.Uint{}},
		}, fault.ModelRange, "at least 1"},
		{"no input", []ast.Statement{&ast.CreateJunction{Create: named("j")}}, fault.ModelEmpty, "at least one input"},
		{"no decoder", []ast.Statement{
			&ast.CreateClient{Create: named("c"), Type: ast.ClientFile, Config: root()},
			&ast.CreateIngestor{Create: named("i"), Source: &ast.FileSource{Client: ast.Ident{Name: "c"}, Path: ast.Text{Value: "p"}}},
		}, fault.ModelEmpty, "needs DECODE USING"},
		{"no window", []ast.Statement{
			&ast.CreateClient{Create: named("c"), Type: ast.ClientFile, Config: root()},
			&ast.CreateIngestor{Create: named("i"), Source: &ast.FileSource{Client: ast.Ident{Name: "c"}, Path: ast.Text{Value: "p"}}},
		}, fault.ModelRange, "PARALLEL MAX is at least 1"},
		{"client of another type", []ast.Statement{
			&ast.CreateClient{Create: named("c"), Type: "KAFKA"},
		}, fault.ModelUnsupported, "type KAFKA"},
		{"ALTER to 0", []ast.Statement{
			&ast.CreateSchema{Create: named("s"), Fields: []ast.FieldDecl{field("a", text)}},
			&ast.CreateRelay{Create: named("r"), Schema: ast.Ident{Name: "s"}, Capacity: ast.Uint{Value: 1}},
			&ast.AlterRelay{Name: ast.Ident{Name: "r"}, Ops: []ast.RelayOp{&ast.SetCapacity{}}},
		}, fault.ModelRange, "1..18446744073709551615 batches"},
		{"empty path", []ast.Statement{
			&ast.CreateClient{Create: named("c"), Type: ast.ClientFile, Config: root()},
			&ast.CreateEmitter{Create: named("e"), Inputs: ast.Inputs{From: []ast.Input{{Relay: ast.Ident{Name: none}}}}, Sink: &ast.FileSink{Client: ast.Ident{Name: "c"}}},
		}, fault.ResolveUnknown, "there is no RELAY none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, faults := model.Check("farm", nil, test.defs)
			for _, d := range faults {
				if d.Code == test.code && strings.Contains(d.Message, test.want) {
					return
				}
			}
			t.Errorf("no %s with %q in %v", test.code, test.want, faults)
		})
	}
}

func root() ast.Map {
	return ast.Map{Entries: []ast.MapEntry{{Key: ast.Text{Value: "root"}, Value: &ast.Literal{Kind: ast.LiteralString, Text: "/data"}}}}
}

// TestBuildTellsWithoutAPlace: a stored graph that does not fit this release is refused, and no span is made up.
func TestBuildTellsWithoutAPlace(t *testing.T) {
	def := &ast.CreateRelay{Create: named("r"), Schema: ast.Ident{Name: "gone", Span: fault.Span{Offset: 7, Length: 4}}, Capacity: ast.Uint{Value: 1}}
	g, faults := model.Build("farm", []ast.Definition{def})
	if g != nil || len(faults) != 1 || faults[0].Located || faults[0].Code != fault.ResolveUnknown {
		t.Fatalf("%v %v", g, faults)
	}
	if want := (ident.Ref{Domain: "farm", Kind: ident.KindRelay, Name: "r"}); faults[0].Related[0] != want {
		t.Errorf("related %v, want %v first", faults[0].Related, want)
	}
}
