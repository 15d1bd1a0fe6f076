// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What belongs to the host has no name on the connector's side.
var hostOnly = regexp.MustCompile(`(?i)relay|branch|schedule|domain|route|ingestor|emitter|nspl|junction|lineage|clock|generation`)

func TestContractNamesNothingOfTheHost(t *testing.T) {
	// req: P-001, P-002
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			path := strings.Trim(i.Path.Value, `"`)
			if strings.Contains(path, "nervix-go/nervix/host/") && !strings.HasSuffix(path, "host/arrowipc") {
				t.Errorf("%s imports %s", name, path)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && hostOnly.MatchString(id.Name) {
				t.Errorf("%s names %s", name, id.Name)
			}
			return true
		})
	}
	proto, err := os.ReadFile("../proto/v1/connector.proto")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(proto), "\n") {
		code, _, _ := strings.Cut(line, "//")
		if hostOnly.MatchString(code) && !strings.Contains(code, "go_package") {
			t.Errorf("connector.proto says %q", line)
		}
	}
}
