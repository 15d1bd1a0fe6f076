// SPDX-License-Identifier: Apache-2.0

package print

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nervix-go/nervix/host/nspl/ast"
)

func (p *printer) alterRelay(s *ast.AlterRelay) {
	items := make([]string, len(s.Ops))
	for i, op := range s.Ops {
		switch o := op.(type) {
		case *ast.SetCapacity:
			items[i] = "SET CAPACITY " + strconv.FormatUint(o.Capacity.Value, 10)
		default:
			panic(fmt.Sprintf("print: no form for %T", op))
		}
	}
	p.list(0, "ALTER RELAY "+name(s.Name), items)
}

func (p *printer) describe(s *ast.Describe) {
	line := "DESCRIBE " + s.Kind.String() + " " + name(s.Name)
	if len(s.Bindings) > 0 {
		items := make([]string, len(s.Bindings))
		for i, b := range s.Bindings {
			items[i] = field(b.Field.Name) + " = " + sign(b.Negative) + literal(b.Value)
		}
		line += " WHERE (" + strings.Join(items, ", ") + ")"
	}
	if s.Version != nil {
		line += " VERSION " + strconv.FormatUint(s.Version.Value, 10)
	}
	p.line(0, line+format(s.Format))
}

func sign(negative bool) string {
	if negative {
		return "-"
	}
	return ""
}

func (p *printer) start(s *ast.Start) {
	line := "START"
	switch {
	case s.AtNow:
		line += " AT NOW"
	case s.At != nil:
		line += " AT " + text(s.At.Value)
	}
	if s.Rate != nil {
		line += " TIME RATE " + s.Rate.Text
	}
	p.line(0, line)
}
