// SPDX-License-Identifier: Apache-2.0

package control

import (
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/registry"
)

// ModelChecker is the Checker of the product.
type ModelChecker struct{}

// Check asks host/model.
func (ModelChecker) Check(domain ident.Domain, base []ast.Definition, changes []ast.Statement) (Checked, fault.Diagnostics) {
	candidate, diagnostics := model.Check(domain, base, changes)
	out := Checked{Existed: candidate.Existed, Notices: candidate.Notices, At: candidate.At}
	if len(diagnostics) > 0 {
		return out, diagnostics
	}
	for _, p := range candidate.Puts {
		out.Puts = append(out.Puts, CheckedPut{Definition: p.Definition, Dependencies: toKeys(p.Dependencies), CapacityOnly: p.CapacityOnly})
	}
	out.Drops = toKeys(candidate.Drops)
	return out, nil
}

func toKeys(refs []ident.Ref) []registry.Key {
	keys := make([]registry.Key, len(refs))
	for i, r := range refs {
		keys[i] = registry.Key{Kind: r.Kind, Name: r.Name}
	}
	return keys
}
