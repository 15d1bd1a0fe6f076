// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

func parseCreateUser(p *parser, _ ast.Ident) created {
	return &ast.CreateUser{Password: p.password()}
}

func parseAlterUser(p *parser, start int) ast.Statement {
	s := &ast.AlterUser{Name: p.named(ident.KindUser)}
	s.Password = p.password()
	s.Node = p.from(start)
	return s
}

// password reads WITH PASSWORD string. From here on diagnostics quote nothing.
func (p *parser) password() ast.Secret {
	p.secret = true
	p.expect("WITH PASSWORD")
	return ast.NewSecret(p.text().Value)
}
