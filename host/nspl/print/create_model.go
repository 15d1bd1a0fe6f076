// SPDX-License-Identifier: Apache-2.0

package print

import (
	"fmt"
	"strconv"

	"github.com/nervix-go/nervix/host/nspl/ast"
)

func (p *printer) createDomain(s *ast.CreateDomain) {
	if s.Pace == ast.Paced {
		p.line(0, "CREATE PACED DOMAIN "+name(s.Name))
		p.line(2, "WITH PERIOD "+s.Period.Text+" SKEW "+s.Skew.Text)
	} else {
		p.line(0, "CREATE UNPACED DOMAIN "+name(s.Name))
	}
	p.line(2, "PLACEMENT "+s.Placement.String())
}

func (p *printer) createUser(s *ast.CreateUser) {
	p.line(0, "CREATE USER "+name(s.Name))
	p.password(s.Password)
}

func (p *printer) password(s ast.Secret) {
	shown := s.String()
	if !p.redact {
		shown = text(s.Reveal())
	}
	p.line(2, "WITH PASSWORD "+shown)
}

func (p *printer) createSchema(s *ast.CreateSchema) {
	items := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		items[i] = name(f.Name) + " " + f.Type.String()
		if f.Optional {
			items[i] += " OPTIONAL"
		}
		if f.Sensitive {
			items[i] += " SENSITIVE"
		}
	}
	p.brackets(0, "CREATE SCHEMA "+name(s.Name), items)
}

func (p *printer) createWire(s *ast.CreateWire) {
	items := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		items[i] = spelling(f.Name) + " " + string(f.Type)
		if f.Optional {
			items[i] += " OPTIONAL"
		}
	}
	p.line(0, "CREATE "+s.Kind.String()+" "+name(s.Name))
	p.brackets(2, "MODE "+s.Mode.String(), items)
}

func (p *printer) createCodec(s *ast.CreateCodec) {
	p.line(0, "CREATE CODEC "+name(s.Name))
	switch body := s.Body.(type) {
	case *ast.WireCodec:
		p.line(2, "FROM "+body.WireKind.String()+" "+name(body.Wire)+" TO SCHEMA "+name(body.Schema))
		if len(body.Encode) > 0 {
			items := make([]string, len(body.Encode))
			for i, e := range body.Encode {
				items[i] = field(e.Field.Name) + " AS RFC3339"
			}
			p.list(2, "ENCODE", items)
		}
	default:
		panic(fmt.Sprintf("print: no form for %T", s.Body))
	}
}

func (p *printer) createBranch(s *ast.CreateBranch) {
	p.line(0, "CREATE BRANCH "+name(s.Name)+" SCHEMA "+name(s.Schema))
	p.line(2, "TTL "+s.TTL.Text)
	if s.MaxInstances != nil {
		p.line(2, "MAX INSTANCES "+strconv.FormatUint(s.MaxInstances.Value, 10)+" EVICT LRU")
	}
}

func (p *printer) createRelay(s *ast.CreateRelay) {
	p.line(0, "CREATE RELAY "+name(s.Name)+" SCHEMA "+name(s.Schema))
	p.line(2, branch(s.Branch))
	p.line(2, "CAPACITY "+strconv.FormatUint(s.Capacity.Value, 10))
}

func (p *printer) createClient(s *ast.CreateClient) {
	p.line(0, "CREATE CLIENT "+name(s.Name)+" TYPE "+string(s.Type))
	p.configMap(2, "CONFIG", s.Config)
}
