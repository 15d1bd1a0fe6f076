// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"strings"

	"github.com/nervix-go/nervix/host/control"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/registry"
	"github.com/nervix-go/nervix/plugins/supervise"
)

// checker is the model check plus what only this installation knows: which connectors exist and where files may lie (P-004).
type checker struct {
	plugins  *supervise.Host
	fileRoot string
	state    func() *registry.State // the newest committed state
}

// Check implements control.Checker.
func (c checker) Check(domain ident.Domain, base []ast.Definition, changes []ast.Statement) (control.Checked, fault.Diagnostics) {
	out, diagnostics := control.ModelChecker{}.Check(domain, base, changes)
	if len(diagnostics) > 0 {
		return out, diagnostics
	}
	var at []int
	for i, change := range changes {
		found := append(c.installation(change), c.checkWriters(domain, base, change, changes)...)
		for range found {
			at = append(at, i)
		}
		diagnostics = append(diagnostics, found...)
	}
	if len(diagnostics) > 0 {
		out.At = at
	}
	return out, diagnostics
}

func (c checker) installation(change ast.Statement) fault.Diagnostics {
	var found fault.Diagnostics
	need := func(kind ast.ClientType, span fault.Span, source, sink bool) {
		name := strings.ToLower(string(kind))
		d, ok := c.plugins.Descriptor(name)
		switch {
		case !ok:
			found = append(found, fault.At(fault.StageCheck, fault.PluginUnknown, span, "no connector of kind `"+name+"` is installed on this node",
				"put its binary and its descriptor into the connectors folder and restart"))
		case source && d.Source == nil:
			found = append(found, fault.At(fault.StageCheck, fault.PluginUnknown, span, "the connector `"+name+"` is no source", ""))
		case sink && d.Sink == nil:
			found = append(found, fault.At(fault.StageCheck, fault.PluginUnknown, span, "the connector `"+name+"` is no sink", ""))
		}
	}
	switch s := change.(type) {
	case *ast.CreateClient:
		need(s.Type, s.Where(), false, false)
		found = append(found, c.root(s)...)
	case *ast.CreateIngestor:
		need(s.Source.SourceKind(), s.Source.Where(), true, false)
	case *ast.CreateEmitter:
		need(s.Sink.SinkKind(), s.Sink.Where(), false, true)
	}
	return found
}

// root checks that a FILE client stays below the node's file root.
func (c checker) root(s *ast.CreateClient) fault.Diagnostics {
	entry := s.Config.Find("root")
	if entry == nil {
		return nil
	}
	relative, err := filepath.Rel(c.fileRoot, filepath.Clean(entry.Text))
	if err == nil && relative != ".." && !strings.HasPrefix(relative, "../") {
		return nil
	}
	return fault.Diagnostics{fault.At(fault.StageCheck, fault.ModelOption, entry.Where(),
		"root lies outside the file root of this node, "+c.fileRoot, "start the node with a --file-root that holds it, or choose a folder below")}
}
