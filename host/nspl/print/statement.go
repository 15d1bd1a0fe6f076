// SPDX-License-Identifier: Apache-2.0

package print

import (
	"fmt"

	"github.com/nervix-go/nervix/host/nspl/ast"
)

// Statement is the canonical text. The text of CREATE USER and ALTER USER holds the password: use Redacted for everything that is shown,
// logged or stored.
func Statement(stmt ast.Statement) string { return write(stmt, false) }

// Redacted is the canonical text with passwords masked. A masked text does not parse, so that nobody sets a mask as a password.
func Redacted(stmt ast.Statement) string { return write(stmt, true) }

func write(stmt ast.Statement, redact bool) string {
	p := &printer{redact: redact}
	switch s := stmt.(type) {
	case *ast.CreateDomain:
		p.createDomain(s)
	case *ast.CreateUser:
		p.createUser(s)
	case *ast.CreateSchema:
		p.createSchema(s)
	case *ast.CreateWire:
		p.createWire(s)
	case *ast.CreateCodec:
		p.createCodec(s)
	case *ast.CreateBranch:
		p.createBranch(s)
	case *ast.CreateRelay:
		p.createRelay(s)
	case *ast.CreateResource:
		p.line(0, "CREATE RESOURCE "+name(s.Name))
	case *ast.CreateClient:
		p.createClient(s)
	case *ast.CreateIngestor:
		p.createIngestor(s)
	case *ast.CreateJunction:
		p.createJunction(s)
	case *ast.CreateWASM:
		p.createWASM(s)
	case *ast.CreateEmitter:
		p.createEmitter(s)
	default:
		p.command(stmt)
	}
	return p.b.String()
}

// command prints the statements that take one line.
func (p *printer) command(stmt ast.Statement) {
	switch s := stmt.(type) {
	case *ast.AlterRelay:
		p.alterRelay(s)
	case *ast.AlterUser:
		p.line(0, "ALTER USER "+name(s.Name))
		p.password(s.Password)
	case *ast.Drop:
		p.line(0, "DROP "+s.Kind.String()+" "+name(s.Name))
	case *ast.ShowCreate:
		p.line(0, "SHOW CREATE "+s.Kind.String()+" "+name(s.Name))
	case *ast.ShowIngestors:
		p.line(0, "SHOW INGESTORS"+format(s.Format))
	case *ast.ShowClusterStatus:
		p.line(0, "SHOW CLUSTER STATUS"+format(s.Format))
	case *ast.Describe:
		p.describe(s)
	case *ast.Upload:
		p.line(0, "UPLOAD RESOURCE "+name(s.Resource)+" VERSION "+text(s.Directory.Value))
	case *ast.Use:
		p.line(0, "USE "+name(s.Name))
	case *ast.ListDomains:
		p.line(0, "LIST DOMAINS")
	case *ast.Start:
		p.start(s)
	case *ast.AttachDomainClock:
		p.line(0, "ATTACH DOMAIN CLOCK")
	case *ast.DetachDomainClock:
		p.line(0, "DETACH DOMAIN CLOCK")
	case *ast.Stop:
		p.line(0, "STOP")
	case *ast.Begin:
		p.line(0, "BEGIN")
	case *ast.Commit:
		p.line(0, "COMMIT")
	case *ast.Revert:
		p.line(0, "REVERT")
	default:
		panic(fmt.Sprintf("print: no form for %T", stmt))
	}
}
