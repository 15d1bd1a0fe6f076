// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// Schemas are the input and the outputs of a processor.
type Schemas struct {
	Input  *types.Schema
	Routes []protocol.Route
}

// InputName is the name of the schema that stands for the input of a processor in ParseSchemas.
const InputName = "input"

// ParseSchemas reads the schemas a guest was written for: NSPL with CREATE SCHEMA statements only, one called `input`, and one for each output,
// called like its relay, in the order of the TO clauses.
func ParseSchemas(text string) (*Schemas, error) {
	parsed, diagnostics := parse.Text(text)
	if len(diagnostics) > 0 {
		return nil, diagnostics
	}
	s := &Schemas{}
	for _, p := range parsed {
		create, ok := p.Stmt.(*ast.CreateSchema)
		if !ok {
			return nil, fmt.Errorf("only CREATE SCHEMA statements are read here: one named `%s`, and one named like each relay the guest writes to", InputName)
		}
		schema, err := schemaOf(create)
		if err != nil {
			return nil, err
		}
		switch {
		case schema.Name() == InputName && s.Input != nil, s.route(schema.Name()) != nil:
			return nil, fmt.Errorf("schema %s is declared twice", schema.Name())
		case schema.Name() == InputName:
			s.Input = schema
		default:
			s.Routes = append(s.Routes, protocol.Route{Relay: schema.Name(), Schema: schema})
		}
	}
	if s.Input == nil || len(s.Routes) == 0 {
		return nil, fmt.Errorf("a schema named `%s` is needed, and one named like each relay the guest writes to", InputName)
	}
	return s, nil
}

func (s *Schemas) route(relay ident.Name) *protocol.Route {
	i := slices.IndexFunc(s.Routes, func(r protocol.Route) bool { return r.Relay == relay })
	if i < 0 {
		return nil
	}
	return &s.Routes[i]
}

func schemaOf(create *ast.CreateSchema) (*types.Schema, error) {
	var fields []types.Field
	for _, f := range create.Fields {
		if slices.ContainsFunc(fields, func(o types.Field) bool { return o.Name == f.Name.Name }) {
			return nil, fmt.Errorf("field %s of schema %s is declared twice", f.Name.Name, create.Name.Name)
		}
		if !sound(f.Type) {
			return nil, fmt.Errorf("field %s of schema %s has an ARRAY without axes, or with an axis of length 0", f.Name.Name, create.Name.Name)
		}
		fields = append(fields, types.Field{Name: f.Name.Name, Type: f.Type, Optional: f.Optional})
	}
	return types.NewSchema(create.Name.Name, fields), nil
}

func sound(t types.Type) bool {
	if t.Scalar == types.Array && (len(t.Dims) == 0 || slices.Contains(t.Dims, 0)) {
		return false
	}
	return t.Elem == nil || sound(*t.Elem)
}

// scenario is one payload for nervix_init.
type scenario struct {
	name    string
	schemas *Schemas
	domain  string
	kind    string // the domain's type
	key     string // empty: unbranched
}

// The keys and names of the kit.
const (
	testDomain = "conformance"
	testKind   = "unpaced"
	testKey    = `{"tenant":"alpha"}`
	otherKey   = `{"tenant":"beta"}`
)

func (c scenario) init() *protocol.Init {
	i := &protocol.Init{DomainName: c.domain, DomainType: c.kind, Input: protocol.ShapeOf("incoming", c.schemas.Input)}
	if c.key != "" {
		i.BranchKey = []byte(c.key)
	}
	for _, r := range c.schemas.Routes {
		i.Outputs = append(i.Outputs, protocol.ShapeOf(r.Relay, r.Schema))
	}
	return i
}

func (c scenario) message() ([]byte, error) { return protocol.EncodeInit(c.init()) }

func (c scenario) with(change func(*scenario)) scenario {
	change(&c)
	return c
}

// The schemas of the kit: those of the reference job, the shapes that a guest for any schema accepts, and every type.
const (
	jobSchemas = `
CREATE SCHEMA input (sensor STRING, value I64 OPTIONAL, at DATETIME);
CREATE SCHEMA kept (sensor STRING, value I64 OPTIONAL, at DATETIME, ordinal I64);
CREATE SCHEMA audit (ordinal I64, label STRING, branch STRING OPTIONAL, released DATETIME, note STRING OPTIONAL);`
	plainSchemas = `
CREATE SCHEMA input (place STRING, reading F64 OPTIONAL, at DATETIME);
CREATE SCHEMA out (place STRING, reading F64 OPTIONAL, at DATETIME);`
	numberedSchemas = `
CREATE SCHEMA input (place STRING, reading F64 OPTIONAL, at DATETIME);
CREATE SCHEMA out (place STRING, reading F64 OPTIONAL, at DATETIME, number I64);`
)

// own are the kit's schemas by name, in the order in which they are tried.
var own = []struct {
	name    string
	schemas *Schemas
}{{"job", mustParse(jobSchemas)}, {"plain", mustParse(plainSchemas)}, {"numbered", mustParse(numberedSchemas)}, {"types", typed()}}

// typed has a field of every scalar type, required and optional, and lists of lists of them.
func typed() *Schemas {
	var fields []types.Field
	add := func(t types.Type) {
		name := ident.Name(fmt.Sprintf("f%d", len(fields)))
		fields = append(fields, types.Field{Name: name, Type: t}, types.Field{Name: name + "_or_null", Type: t, Optional: true})
	}
	vec := func(t types.Type) types.Type { return types.Type{Scalar: types.Vec, Elem: &t} }
	array := func(t types.Type, dims ...uint32) types.Type {
		return types.Type{Scalar: types.Array, Elem: &t, Dims: dims}
	}
	for s := types.U8; s <= types.Datetime; s++ {
		add(types.Of(s))
	}
	for _, s := range []types.Scalar{types.I16, types.F64, types.Bool, types.String, types.Bytes, types.Datetime} {
		add(vec(types.Of(s)))
		add(array(types.Of(s), 3))
	}
	add(array(types.Of(types.F32), 2, 3))
	add(vec(array(types.Of(types.F32), 6)))
	add(vec(vec(types.Of(types.String))))
	add(array(vec(types.Of(types.U32)), 2))
	return &Schemas{Input: types.NewSchema(InputName, fields), Routes: []protocol.Route{{Relay: "out", Schema: types.NewSchema("out", fields)}}}
}

func mustParse(text string) *Schemas {
	s, err := ParseSchemas(text)
	if err != nil {
		panic("verify: " + strings.TrimSpace(text) + ": " + err.Error())
	}
	return s
}

// scenarios are the payloads that a guest is offered, branched ones first.
func scenarios(given *Schemas) []scenario {
	var all []scenario
	add := func(name string, s *Schemas) {
		for _, key := range []string{testKey, ""} {
			all = append(all, scenario{name: name, schemas: s, domain: testDomain, kind: testKind, key: key})
		}
	}
	if given != nil {
		add("given", given)
	}
	for _, o := range own {
		add(o.name, o.schemas)
	}
	return all
}
