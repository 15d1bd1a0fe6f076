// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
	"github.com/nervix-go/nervix/host/registry"
)

// checkWriters refuses an emitter whose file an emitter of another domain writes already: one writer a path over all domains (nspl 14.6). The
// model check does the same inside a domain. Two commands under way in two domains at once may both pass; then the lock of the file
// keeps the second emitter from writing and its status says so.
func (c checker) checkWriters(domain ident.Domain, base []ast.Definition, change ast.Statement, changes []ast.Statement) fault.Diagnostics {
	e, ok := change.(*ast.CreateEmitter)
	if !ok {
		return nil
	}
	target := fileTarget(e, func(client ident.Name) *ast.CreateClient {
		for _, s := range changes {
			if made, ok := s.(*ast.CreateClient); ok && made.DefName() == client {
				return made
			}
		}
		for _, d := range base {
			if made, ok := d.(*ast.CreateClient); ok && made.DefName() == client {
				return made
			}
		}
		return nil
	})
	if target == "" {
		return nil
	}
	s := c.state()
	for _, name := range s.DomainNames() {
		if name == domain {
			continue
		}
		if writer, ok := writerOf(s.Domains[name], target); ok {
			d := fault.At(fault.StagePlan, fault.ModelWriter, e.Sink.Where(), "EMITTER "+string(writer.Name)+" of domain "+string(name)+" writes this file already",
				"give each emitter its own path")
			d.Related = []ident.Ref{writer}
			return fault.Diagnostics{d}
		}
	}
	return nil
}

// writerOf finds the emitter of a domain that writes a file.
func writerOf(d *registry.Domain, target string) (ident.Ref, bool) {
	for _, key := range d.Keys() {
		if key.Kind != ident.KindEmitter {
			continue
		}
		stmt, diagnostics := parse.Statement(d.Definitions[key].Text)
		e, ok := stmt.(*ast.CreateEmitter)
		if len(diagnostics) > 0 || !ok {
			continue // a stored definition that cannot be read is told where it is installed
		}
		found := fileTarget(e, func(client ident.Name) *ast.CreateClient {
			stored, ok := d.Definitions[registry.Key{Kind: ident.KindClient, Name: client}]
			if !ok {
				return nil
			}
			made, _ := parse.Statement(stored.Text)
			out, _ := made.(*ast.CreateClient)
			return out
		})
		if found == target {
			return key.In(d.Name), true
		}
	}
	return ident.Ref{}, false
}

// fileTarget is the file that an emitter writes; empty when it writes none.
func fileTarget(e *ast.CreateEmitter, client func(ident.Name) *ast.CreateClient) string {
	sink, ok := e.Sink.(*ast.FileSink)
	if !ok {
		return ""
	}
	c := client(sink.Client.Name)
	if c == nil {
		return ""
	}
	root := c.Config.Find("root")
	if root == nil {
		return ""
	}
	return filepath.Join(root.Text, sink.Path.Value)
}
