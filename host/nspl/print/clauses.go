// SPDX-License-Identifier: Apache-2.0

package print

import (
	"github.com/nervix-go/nervix/host/nspl/ast"
)

func (p *printer) inputs(in ast.Inputs) {
	items := make([]string, len(in.From))
	for i, one := range in.From {
		items[i] = name(one.Relay)
		if one.Where != nil {
			items[i] += " WHERE " + Expr(one.Where)
		}
	}
	p.list(2, "FROM", items)
}

func (p *printer) filter(x ast.Expr) {
	if x != nil {
		p.line(2, "FILTER WHERE "+Expr(x))
	}
}

func branch(b ast.BranchDecl) string {
	if b.Branch == nil {
		return "UNBRANCHED"
	}
	return "BRANCHED BY " + name(*b.Branch)
}

func (p *printer) construct(indent int, c ast.Construct) {
	p.inherit(indent, c.Inherit)
	if len(c.Set) > 0 {
		p.list(indent, "SET", assignments(c.Set))
	}
	if c.Where != nil {
		p.line(indent, "WHERE "+Expr(c.Where))
	}
}

func (p *printer) inherit(indent int, in *ast.Inherit) {
	switch {
	case in == nil:
	case in.All && len(in.Except) == 0:
		p.line(indent, "INHERIT ALL")
	case in.All:
		p.list(indent, "INHERIT ALL EXCEPT", fields(in.Except))
	default:
		items := make([]string, len(in.Fields))
		for i, f := range in.Fields {
			items[i] = field(f.Field.Name)
			if f.Leak {
				items[i] += " LEAK SENSITIVE"
			}
		}
		p.list(indent, "INHERIT", items)
	}
}

func assignments(list []ast.Assignment) []string {
	items := make([]string, len(list))
	for i, a := range list {
		items[i] = field(a.Field.Name) + " = " + Expr(a.Value)
	}
	return items
}

func (p *printer) flush(indent int, f ast.Flush) {
	if f.Immediate {
		p.line(indent, "FLUSH IMMEDIATE")
		return
	}
	p.line(indent, "FLUSH EACH "+f.Each.Text+" MAX BATCH SIZE "+f.MaxBatch.Text)
}

func (p *printer) messagePolicy(indent int, m ast.MessagePolicy) {
	const head = "ON MESSAGE ERROR "
	switch m.Policy {
	case ast.PolicySendTo:
		p.tail(indent, head+"SEND TO "+name(m.To), assignments(m.Set))
	default:
		p.line(indent, head+policy(m.Policy))
	}
}

func (p *printer) generalPolicy(g ast.GeneralPolicy) {
	p.line(2, "ON GENERAL ERROR "+policy(g.Policy))
}

func policy(x ast.Policy) string {
	if x == ast.PolicyLog {
		return "LOG"
	}
	return "IGNORE"
}

func retry(r ast.Retry) string {
	return "RETRY POLICY BACKOFF " + r.Backoff.Text + " MAX " + r.Max.Text
}

func (p *printer) route(r ast.Route, bound *ast.RouteBranch) {
	p.line(2, "TO "+name(r.To))
	p.construct(4, r.Construct)
	if bound != nil && len(bound.Set) > 0 {
		p.tail(4, branch(bound.BranchDecl), assignments(bound.Set))
	} else if bound != nil {
		p.line(4, branch(bound.BranchDecl))
	}
	p.flush(4, r.Flush)
	p.messagePolicy(4, r.OnError)
}

// configMap prints one entry a line when there is more than one.
func (p *printer) configMap(indent int, word string, m ast.Map) {
	items := make([]string, len(m.Entries))
	for i, e := range m.Entries {
		items[i] = text(e.Key.Value) + " = " + literal(e.Value)
	}
	switch len(items) {
	case 0:
		p.line(indent, word+" {}")
	case 1:
		p.line(indent, word+" {"+items[0]+"}")
	default:
		p.line(indent, word+" {")
		p.items(indent+2, items)
		p.line(indent, "}")
	}
}

func format(f ast.Format) string {
	if f == ast.FormatJSON {
		return " FORMAT JSON"
	}
	return ""
}
