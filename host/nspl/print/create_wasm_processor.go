// SPDX-License-Identifier: Apache-2.0

package print

import (
	"strconv"

	"github.com/nervix-go/nervix/host/nspl/ast"
)

func (p *printer) createWASM(s *ast.CreateWASM) {
	p.line(0, "CREATE "+s.Attachment.String()+" WASM PROCESSOR "+name(s.Name))
	p.inputs(s.Inputs)
	p.filter(s.Filter)
	p.line(2, "USING RESOURCE "+name(s.Resource)+" "+version(s.Version))
	p.line(2, "FILE "+text(s.File.Value))
	p.line(2, "MAX FUEL "+strconv.FormatUint(s.MaxFuel.Value, 10))
	p.line(2, "MAX MEMORY "+s.MaxMemory.Text)
	p.line(2, branch(s.Branch))
	for _, r := range s.Routes {
		p.line(2, "TO "+name(r.To))
		p.construct(4, ast.Construct{Set: r.Set, Where: r.Where})
		p.messagePolicy(4, r.OnError)
	}
	p.line(2, "ON REJECTED STATE "+s.OnRejected.String())
	p.line(2, "ON GLOBAL ERROR "+policy(s.OnGlobal.Policy))
}

// version prints LATEST only for a definition that was not stored (nspl 1.11).
func version(v ast.Version) string {
	if v.Latest {
		return "VERSION LATEST"
	}
	return "VERSION " + strconv.FormatUint(v.Number, 10)
}
