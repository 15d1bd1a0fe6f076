// SPDX-License-Identifier: Apache-2.0

package parse

import (
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

func parseCreateResource(p *parser, _ ast.Ident) created {
	const upload = "a resource begins without versions: UPLOAD RESOURCE name VERSION 'directory' adds one"
	p.note("VERSION", upload)
	p.note("FROM", upload)
	p.note("FILE", upload)
	return &ast.CreateResource{}
}

// parseUpload reads UPLOAD RESOURCE name VERSION 'directory'.
func parseUpload(p *parser, start int) ast.Statement {
	s := &ast.Upload{Resource: p.named(ident.KindResource)}
	p.advising("UPLOAD RESOURCE name VERSION 'directory' uploads a new version", func() { p.expect("VERSION") })
	const directory = "the directory to upload stands here, in quotes; its version gets the next number"
	p.note("LATEST", directory)
	p.advising(directory, func() { s.Directory = p.text() })
	s.Node = p.from(start)
	return s
}
