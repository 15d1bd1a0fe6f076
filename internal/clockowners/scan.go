// SPDX-License-Identifier: Apache-2.0

package clockowners

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

const module = "github.com/nervix-go/nervix"

// Use is one read of a clock, or one armed deadline.
type Use struct {
	// Package is the folder of the file, relative to the root.
	Package string
	File    string
	Line    int
	// Call is what is used, such as `osclock.UTC`; calls gives its class.
	Call string
}

// At is where the use stands.
func (u Use) At() string { return u.File + ":" + strconv.Itoa(u.Line) }

// Scan finds the uses below root, in the order of files and lines.
func Scan(root string) ([]Use, error) {
	var all []Use
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if p != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		find := scanners[path.Ext(name)]
		if find == nil || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		all = append(all, find(filepath.ToSlash(rel), text)...)
		return nil
	})
	return all, err
}

var scanners = map[string]func(file string, text []byte) []Use{
	".go": scanGo,
	".c":  scanText, ".h": scanText, ".cc": scanText, ".cpp": scanText, ".hpp": scanText, ".rs": scanText,
	".js": scanText, ".mjs": scanText, ".ts": scanText, ".html": scanText,
}

// scanGo finds the uses of a Go file by its syntax, so that comments and texts are none, and a name of the file's own that hides a package is none either.
func scanGo(file string, text []byte) []Use {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, text, parser.ParseComments)
	if tree == nil {
		return []Use{{Package: path.Dir(file), File: file, Line: 1, Call: "unreadable: " + err.Error()}}
	}
	f := finder{file: file, set: set, imports: make(map[string]string)}
	for _, i := range tree.Imports {
		f.imported(i)
	}
	for _, group := range tree.Comments {
		for _, c := range group.List {
			if rest, ok := strings.CutPrefix(c.Text, "//go:linkname "); ok && linked.MatchString(rest) {
				f.add(c, "linkname")
			}
		}
	}
	ast.Inspect(tree, f.visit)
	return f.uses
}

var linked = regexp.MustCompile(`\b(nanotime|walltime|now|runtimeNow|runtimeNano|usleep|sleep|newTimer)\b`)

type finder struct {
	file    string
	set     *token.FileSet
	imports map[string]string // path by the name in the file
	uses    []Use
}

func (f *finder) add(n ast.Node, call string) {
	f.uses = append(f.uses, Use{Package: path.Dir(f.file), File: f.file, Line: f.set.Position(n.Pos()).Line, Call: call})
}

func (f *finder) imported(i *ast.ImportSpec) {
	p, err := strconv.Unquote(i.Path.Value)
	if err != nil {
		return
	}
	name := short(p)
	if i.Name != nil {
		name = i.Name.Name
	}
	if forbidden[p] {
		f.add(i, "import:"+p)
	}
	if name == "." && watched(p) {
		f.add(i, "dot-import:"+p)
		return
	}
	f.imports[name] = p
}

// short is the name that a package most likely has.
func short(importPath string) string {
	name := path.Base(importPath)
	if version.MatchString(name) {
		name = path.Base(path.Dir(importPath))
	}
	return strings.TrimSuffix(strings.TrimPrefix(name, "go-"), "-go")
}

var version = regexp.MustCompile(`^v[0-9]+$`)

// watched says whether calls of a package are looked at.
func watched(importPath string) bool {
	return packageOf[short(importPath)] == importPath
}

func (f *finder) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.SelectorExpr:
		f.selector(n)
	case *ast.CompositeLit:
		f.literal(n)
	case *ast.AssignStmt:
		for _, l := range n.Lhs {
			if s, ok := l.(*ast.SelectorExpr); ok && fields[s.Sel.Name] && f.pkg(s.X) == "" {
				f.add(s, "field:"+s.Sel.Name)
			}
		}
	}
	return true
}

// selector finds functions of packages, used in whatever way, and methods that arm a deadline.
func (f *finder) selector(s *ast.SelectorExpr) {
	name := s.Sel.Name
	if p := f.pkg(s.X); p != "" {
		call := short(p) + "." + name
		if _, known := calls[call]; known && packageOf[short(p)] == p {
			f.add(s, call)
		}
		return
	}
	switch {
	case name == "SetDeadline" || name == "SetReadDeadline" || name == "SetWriteDeadline":
		f.add(s, "method:"+name)
	case name == "Arm" && f.imports["lanes"] == module+"/host/lanes":
		f.add(s, "lanes.Arm")
	}
}

// pkg is the import path that an expression names, or empty.
func (f *finder) pkg(x ast.Expr) string {
	if id, ok := x.(*ast.Ident); ok && id.Obj == nil {
		return f.imports[id.Name]
	}
	return ""
}

// literal finds timeouts among the fields of library types.
func (f *finder) literal(l *ast.CompositeLit) {
	t, ok := l.Type.(*ast.SelectorExpr)
	if !ok {
		return
	}
	p := f.pkg(t.X)
	if p == "" || strings.HasPrefix(p, module+"/") {
		return
	}
	for _, e := range l.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if key, ok := kv.Key.(*ast.Ident); ok && fields[key.Name] {
			f.add(kv, "field:"+key.Name)
		}
	}
}
