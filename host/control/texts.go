// SPDX-License-Identifier: Apache-2.0

package control

import (
	"fmt"
	"sync"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
	"github.com/nervix-go/nervix/host/registry"
)

// texts keeps the trees of stored definitions, so that a change of a large domain does not parse all of it again. Definitions are
// immutable, so a tree belongs to its pointer.
type texts struct {
	mu struct {
		sync.Mutex
		trees map[ident.Domain]map[*registry.Definition]ast.Definition
	}
}

// base gives the definitions of a domain, ascending by kind and name. A stored text that does not parse is an internal fault: it was
// printed by a version with another grammar.
func (t *texts) base(d *registry.Domain) ([]ast.Definition, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.mu.trees[d.Name]
	fresh := make(map[*registry.Definition]ast.Definition, len(d.Definitions))
	list := make([]ast.Definition, 0, len(d.Definitions))
	for _, k := range d.Keys() {
		def := d.Definitions[k]
		tree := old[def]
		if tree == nil {
			var err error
			if tree, err = parseDefinition(d.Name, def); err != nil {
				return nil, err
			}
		}
		fresh[def] = tree
		list = append(list, tree)
	}
	if t.mu.trees == nil {
		t.mu.trees = map[ident.Domain]map[*registry.Definition]ast.Definition{}
	}
	t.mu.trees[d.Name] = fresh
	return list, nil
}

// forget drops the trees of a domain.
func (t *texts) forget(d ident.Domain) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.mu.trees, d)
}

func parseDefinition(domain ident.Domain, def *registry.Definition) (ast.Definition, error) {
	stmt, diagnostics := parse.Statement(def.Text)
	if err := diagnostics.Err(); err != nil {
		return nil, unreadable(domain, def, err)
	}
	tree, ok := stmt.(ast.Definition)
	if !ok {
		return nil, unreadable(domain, def, fmt.Errorf("it is no definition"))
	}
	return tree, nil
}

func unreadable(domain ident.Domain, def *registry.Definition, err error) error {
	detail := fmt.Sprintf("its stored text of grammar version %d cannot be read", def.Grammar)
	return fault.New(fault.ControlCorrupt, "control.base", def.Key.In(domain), detail, err)
}
