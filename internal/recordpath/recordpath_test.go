// SPDX-License-Identifier: Apache-2.0

// Package recordpath checks that docs/record-path.md speaks of functions that exist.
package recordpath

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

// mention is a backquoted package path with a function, method or type: `host/ack.NewBlock`, `host/ack.(*Block).Release`.
var mention = regexp.MustCompile("`((?:host|plugins|connectors|client|dragon)/[a-z0-9_/]+)\\.(?:\\(\\*?(\\w+)\\)\\.)?(\\w+)`")

func TestEveryFunctionNamedExists(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "record-path.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := mention.FindAllStringSubmatch(string(text), -1)
	if len(found) < 25 {
		t.Fatalf("only %d functions are named; the page or its pattern is broken", len(found))
	}
	declared := map[string]map[string]bool{}
	for _, m := range found {
		folder := m[1]
		if m[3] == "go" || m[3] == "md" {
			continue // a file
		}
		if declared[folder] == nil {
			declared[folder] = declarations(t, folder)
		}
		name := m[3]
		if m[2] != "" {
			name = m[2] + "." + m[3]
		}
		if !declared[folder][name] {
			t.Errorf("%s does not exist", strings.Trim(m[0], "`"))
		}
	}
}

// declarations lists the functions, methods (Type.Name) and types of a package.
func declarations(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Errorf("package %s does not exist", folder)
		return map[string]bool{}
	}
	out := map[string]bool{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				out[receiver(d)+d.Name.Name] = true
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if ts, ok := s.(*ast.TypeSpec); ok {
						out[ts.Name.Name] = true
					}
				}
			}
		}
	}
	return out
}

func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	expr := d.Recv.List[0].Type
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	if index, ok := expr.(*ast.IndexExpr); ok {
		expr = index.X
	}
	return expr.(*ast.Ident).Name + "."
}
