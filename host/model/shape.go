// SPDX-License-Identifier: Apache-2.0

package model

import (
	"crypto/sha256"
	"reflect"
	"strconv"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

var (
	spanType   = reflect.TypeFor[fault.Span]()
	nodeType   = reflect.TypeFor[ast.Node]()
	createType = reflect.TypeFor[ast.Create]()
)

// shape writes a definition so that two definitions with the same meaning give the same text: everything but the spans and IF NOT EXISTS
// (package ast). It covers new statement kinds without further code.
func shape(def ast.Definition) string {
	var b strings.Builder
	writeShape(&b, reflect.ValueOf(def))
	return b.String()
}

func writeShape(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			b.WriteString("-")
			return
		}
		writeShape(b, v.Elem())
	case reflect.Slice:
		b.WriteString("[" + strconv.Itoa(v.Len()))
		for i := range v.Len() {
			b.WriteByte(' ')
			writeShape(b, v.Index(i))
		}
		b.WriteByte(']')
	case reflect.Struct:
		writeStruct(b, v)
	case reflect.String:
		b.WriteString(strconv.Quote(v.String()))
	case reflect.Bool:
		b.WriteString(strconv.FormatBool(v.Bool()))
	case reflect.Float32, reflect.Float64:
		b.WriteString(strconv.FormatFloat(v.Float(), 'g', -1, 64))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		b.WriteString(strconv.FormatInt(v.Int(), 10))
	default:
		b.WriteString(strconv.FormatUint(v.Uint(), 10))
	}
}

func writeStruct(b *strings.Builder, v reflect.Value) {
	t := v.Type()
	b.WriteString(t.Name() + "{")
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Type == spanType || f.Type == nodeType || (t == createType && f.Name == "IfNotExists") {
			continue
		}
		b.WriteString(f.Name + ":")
		writeShape(b, v.Field(i))
		b.WriteByte(' ')
	}
	b.WriteByte('}')
}

// fixedShape is shape without what may change while a node runs: the capacity of a relay.
func fixedShape(def ast.Definition) string {
	if relay, ok := def.(*ast.CreateRelay); ok {
		bare := *relay
		bare.Capacity = ast.Uint{}
		return shape(&bare)
	}
	return shape(def)
}

// fingerprints computes the fingerprint of each definition from its own shape and those of its dependencies.
type fingerprints struct {
	c    *candidate
	made map[*entry]Fingerprint
}

func (f *fingerprints) of(e *entry) Fingerprint {
	if done, ok := f.made[e]; ok {
		return done
	}
	h := sha256.New()
	h.Write([]byte(fixedShape(e.def)))
	for _, ref := range f.c.dependencies(e.def) {
		if on := f.c.entries[ref]; on != nil {
			below := f.of(on)
			h.Write([]byte("\n" + object(ref) + " "))
			h.Write(below[:])
		}
	}
	var sum Fingerprint
	h.Sum(sum[:0])
	f.made[e] = sum
	return sum
}
