// SPDX-License-Identifier: Apache-2.0

// Package sizes checks the size budget of the style page: files of 500 lines (tests 500 as a rule and 900 at most), functions of 60 lines as a
// rule and 120 at most, packages of 4,000 lines and 30 files without tests; and that each file has its licence line, each package its comment, and no file a name that says nothing. It is a test;
// nothing imports it. Generated code is left out; other exceptions are listed, with the reason, in the test.
package sizes

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The budget.
const (
	maxFileLines    = 500
	maxTestLines    = 900
	maxFuncLines    = 120
	softFuncLines   = 60
	maxPackageLines = 4000
	maxPackageFiles = 30
	licence         = "// SPDX-License-Identifier: Apache-2.0"
)

// empty are file names that would hold anything.
var empty = regexp.MustCompile(`^(utils?|common|helpers?|managers?|types|misc)(_test)?\.go$`)

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// Finding is one broken rule. Path is a file or a package, relative to the root; Rule is a stable word for exceptions.
type Finding struct{ Path, Rule, Text string }

// Report is what a walk found. Soft findings break no rule yet.
type Report struct {
	Hard, Soft []Finding
	Files      int
}

type pkg struct {
	lines, files int
	commented    bool
}

// Check reads every Go file below root, but not below folders that begin with a dot, nor testdata.
func Check(root string) (Report, error) {
	var r Report
	packages := map[string]*pkg{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		r.Files++
		r.file(filepath.ToSlash(name), text, packages)
		return nil
	})
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		p := packages[dir]
		if p.lines > maxPackageLines || p.files > maxPackageFiles {
			r.hard(dir, "package", fmt.Sprintf("has %d files of %d lines together; at most %d and %d, tests not counted", p.files, p.lines, maxPackageFiles, maxPackageLines))
		}
		if p.files > 0 && !p.commented {
			r.hard(dir, "comment", "has no package comment")
		}
	}
	return r, err
}

func (r *Report) hard(path, rule, text string) { r.Hard = append(r.Hard, Finding{path, rule, text}) }

func (r *Report) file(name string, text []byte, packages map[string]*pkg) {
	if generated.Match(text) {
		return
	}
	base, test := filepath.Base(name), strings.HasSuffix(name, "_test.go")
	if !strings.HasPrefix(string(text), licence+"\n") {
		r.hard(name, "licence", "does not begin with "+licence)
	}
	if empty.MatchString(base) {
		r.hard(name, "name", "a file is called after the concept in it")
	}
	lines := strings.Count(string(text), "\n")
	switch {
	case lines > maxFileLines && !test || lines > maxTestLines:
		r.hard(name, "file", fmt.Sprintf("has %d lines, at most %d", lines, maxFileLines))
	case lines > maxFileLines:
		r.Soft = append(r.Soft, Finding{name, "file", fmt.Sprintf("has %d lines, %d as a rule and %d at most", lines, maxFileLines, maxTestLines)})
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		r.hard(name, "syntax", err.Error())
		return
	}
	dir := filepath.ToSlash(filepath.Dir(name))
	if packages[dir] == nil {
		packages[dir] = &pkg{}
	}
	if !test {
		packages[dir].files++
		packages[dir].lines += lines
		packages[dir].commented = packages[dir].commented || tree.Doc != nil
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		f, ok := n.(*ast.FuncDecl)
		if !ok {
			return true
		}
		length := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1
		finding := Finding{name, "func", fmt.Sprintf("func %s has %d lines, %d as a rule and %d at most", f.Name.Name, length, softFuncLines, maxFuncLines)}
		switch {
		case length > maxFuncLines:
			r.Hard = append(r.Hard, finding)
		case length > softFuncLines:
			r.Soft = append(r.Soft, finding)
		}
		return false
	})
}
