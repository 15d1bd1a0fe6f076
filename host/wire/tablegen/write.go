// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/nervix-go/nervix/host/wire/verify"
)

var kindNames = [...]string{
	verify.KindScalar: "KindScalar", verify.KindBool: "KindBool", verify.KindEnum: "KindEnum", verify.KindString: "KindString", verify.KindTable: "KindTable",
	verify.KindStruct: "KindStruct", verify.KindUnion: "KindUnion", verify.KindVector: "KindVector",
}

var ruleNames = []struct {
	bit  verify.Rules
	name string
}{
	{verify.Required, "Required"}, {verify.Present, "Present"}, {verify.Nonzero, "Nonzero"}, {verify.Nonempty, "Nonempty"},
	{verify.Canonical, "Canonical"},
}

// write prints the schema as Go source.
func (s *schema) write(b *bytes.Buffer, source string) {
	fmt.Fprintf(b, "// SPDX-License-Identifier: Apache-2.0\n\n// Code generated from %s by host/wire/generate.sh. DO NOT EDIT.\n\n", source)
	fmt.Fprintf(b, "package %s\n\nimport %q\n\n", s.namespace, "github.com/nervix-go/nervix/host/wire/verify")
	fmt.Fprintf(b, "// The tables of Schema that are roots.\nconst (\n")
	for i, t := range s.Tables {
		if t.Identifier != "" {
			fmt.Fprintf(b, "Root%s = %d\nIdentifierOf%s = %q\n", t.Name, i, t.Name, t.Identifier)
		}
	}
	fmt.Fprintf(b, ")\n\n// Schema describes %s for the verifier.\nvar Schema = verify.Schema{\nName: %q,\nTables: []verify.Table{\n", source, s.Name)
	for i, t := range s.Tables {
		fmt.Fprintf(b, "%d: {Name: %q, ", i, t.Name)
		if t.Identifier != "" {
			fmt.Fprintf(b, "Identifier: IdentifierOf%s, ", t.Name)
		}
		fmt.Fprintf(b, "Slots: %d, Cost: %d, Fields: []verify.Field{\n", t.Slots, t.Cost)
		for _, f := range t.Fields {
			writeField(b, f)
		}
		fmt.Fprintf(b, "}},\n")
	}
	fmt.Fprintf(b, "},\nEnums: []verify.Enum{\n")
	for i, e := range s.Enums {
		fmt.Fprintf(b, "%d: {Name: %q, Flags: %v, Values: %#v},\n", i, e.Name, e.Flags, e.Values)
	}
	fmt.Fprintf(b, "},\nUnions: []verify.Union{\n")
	for i, u := range s.Unions {
		fmt.Fprintf(b, "%d: {Name: %q, Tables: []verify.UnionCase{", i, u.Name)
		for _, c := range u.Tables {
			fmt.Fprintf(b, "{Type: %d, Table: %d}, ", c.Type, c.Table)
		}
		fmt.Fprintf(b, "}},\n")
	}
	fmt.Fprintf(b, "},\n}\n")
}

func writeField(b *bytes.Buffer, f verify.Field) {
	fmt.Fprintf(b, "{Name: %q, Slot: %d, Kind: verify.%s", f.Name, f.Slot, kindNames[f.Kind])
	if f.Kind == verify.KindVector {
		fmt.Fprintf(b, ", Elem: verify.%s", kindNames[f.Elem])
	}
	if f.Size > 0 {
		fmt.Fprintf(b, ", Size: %d, Align: %d", f.Size, f.Align)
	}
	if f.Ref > 0 {
		fmt.Fprintf(b, ", Ref: %d", f.Ref)
	}
	var rules []string
	for _, r := range ruleNames {
		if f.Rules&r.bit != 0 {
			rules = append(rules, "verify."+r.name)
		}
	}
	if len(rules) > 0 {
		fmt.Fprintf(b, ", Rules: %s", strings.Join(rules, "|"))
	}
	if f.MaxBytes > 0 {
		fmt.Fprintf(b, ", MaxBytes: %d", f.MaxBytes)
	}
	if f.ZeroDefault && f.Kind <= verify.KindEnum {
		fmt.Fprintf(b, ", ZeroDefault: true")
	}
	b.WriteString("},\n")
}
