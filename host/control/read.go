// SPDX-License-Identifier: Apache-2.0

package control

import (
	"context"
	"fmt"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
	"github.com/nervix-go/nervix/host/registry"
)

// read answers what has no effect, from the newest committed state of this node.
func (c *Control) read(ctx context.Context, req Request, p parse.Parsed) answer {
	h := head{user: req.User, domain: req.Domain, span: p.Span, stmt: p.Stmt}
	switch s := p.Stmt.(type) {
	case *ast.Use:
		if c.State().Domains[s.Name.Name] == nil {
			return refuse(fault.StageResolve, fault.DomainUnknown, s.Name.Span, "there is no domain "+string(s.Name.Name))
		}
		return answer{text: "domain " + string(s.Name.Name) + " selected", domain: s.Name.Name}
	case *ast.ListDomains:
		if c.cfg.ListDomains != nil {
			got := c.cfg.ListDomains(c.State())
			return answer{text: got.Text, json: got.JSON}
		}
		return answer{text: listDomains(c.State())}
	case *ast.ShowCreate:
		return c.showCreate(h, s)
	case *ast.ShowClusterStatus:
		return c.inspect(ctx, h)
	default:
		if _, a, ok := c.selected(h); !ok {
			return a
		}
		return c.inspect(ctx, h)
	}
}

func (c *Control) inspect(ctx context.Context, h head) answer {
	got, err := c.cfg.Inspector.Inspect(ctx, c.State(), h.domain, h.stmt)
	if err != nil {
		return answer{diagnostics: fromError(fault.StageResolve, fault.RequestUnsupported, err)}
	}
	return answer{text: got.Text, json: got.JSON}
}

func (c *Control) showCreate(h head, s *ast.ShowCreate) answer {
	switch s.Kind {
	case ident.KindUser:
		return refuse(fault.StageCheck, fault.RequestUnsupported, h.span, "SHOW CREATE does not show users, because their text holds a password")
	case ident.KindDomain:
		d := c.State().Domains[s.Name.Name]
		if d == nil {
			return refuse(fault.StageResolve, fault.DomainUnknown, s.Name.Span, "there is no domain "+string(s.Name.Name))
		}
		return answer{text: d.Text}
	}
	d, a, ok := c.selected(h)
	if !ok {
		return a
	}
	key := registry.Key{Kind: s.Kind, Name: s.Name.Name}
	def := d.Definitions[key]
	if def == nil {
		return refuse(fault.StageResolve, fault.ObjectUnknown, s.Name.Span, "there is no "+key.In(h.domain).String())
	}
	return answer{text: def.Text}
}

// listDomains is one line a domain, ascending (nspl 11.1).
func listDomains(s *registry.State) string {
	var b strings.Builder
	for i, name := range s.DomainNames() {
		if i > 0 {
			b.WriteByte('\n')
		}
		d := s.Domains[name]
		fmt.Fprintf(&b, "%s pace=%s status=%s start_version=%d", name, d.Pace, d.Status, d.Generation)
	}
	return b.String()
}
