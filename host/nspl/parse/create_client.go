// SPDX-License-Identifier: Apache-2.0

package parse

import "github.com/nervix-go/nervix/host/nspl/ast"

// clientTypes are the client types of this version of the language.
var clientTypes = []choice[ast.ClientType]{{"FILE", ast.ClientFile}}

func parseCreateClient(p *parser, _ ast.Ident) created {
	s := &ast.CreateClient{}
	p.expect("TYPE")
	s.Type = choose(p, clientTypes)
	p.expect("CONFIG")
	s.Config = p.configMap()
	return s
}
