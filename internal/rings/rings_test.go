// SPDX-License-Identifier: Apache-2.0

package rings

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/nervix-go/nervix"

// listed is what this test reads of `go list`.
type listed struct {
	ImportPath string
	Dir        string
	Imports    []string
	GoFiles    []string
	CgoFiles   []string
}

// load lists the packages of the module. It also visits every folder, so that the test's cached result is forgotten when a file appears.
func load(t *testing.T) []Package {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "list", "-e", "-deps", "-json=ImportPath,Dir,Imports,GoFiles,CgoFiles", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var out []Package
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		path, own := strings.CutPrefix(l.ImportPath, module+"/")
		if !own {
			continue
		}
		p := Package{Path: path, Imports: l.Imports, Cgo: len(l.CgoFiles) > 0}
		for _, f := range append(l.GoFiles, l.CgoFiles...) {
			scan(t, filepath.Join(l.Dir, f), &p)
		}
		out = append(out, p)
	}
}

// scan finds go statements and uses of the clock in a file.
func scan(t *testing.T, file string, p *Package) {
	t.Helper()
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Logf("%s: %v", file, err) // the compiler will say so too
		return
	}
	clock := ""
	for _, i := range tree.Imports {
		if i.Path.Value == `"time"` {
			clock = "time"
			if i.Name != nil {
				clock = i.Name.Name
			}
		}
	}
	at := func(n ast.Node) string {
		pos := set.Position(n.Pos())
		return filepath.Base(pos.Filename) + ":" + strconv.Itoa(pos.Line)
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			p.Starts = append(p.Starts, at(n))
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && clock != "" && x.Name == clock && timeReads[n.Sel.Name] {
				p.Reads = append(p.Reads, at(n)+" (time."+n.Sel.Name+")")
			}
		}
		return true
	})
}

func TestImportRules(t *testing.T) {
	// req: R-035 half: what counts acknowledgements (ack, lineage) cannot reach a file, a socket or the stored state
	packages := load(t)
	if len(packages) < 20 {
		t.Fatalf("only %d packages found", len(packages))
	}
	for _, v := range Check(module, packages) {
		t.Error(v)
	}
}

// Each rule is shown to bite on a planted violation, and to leave its allowed neighbour alone.
func TestPlantedViolations(t *testing.T) {
	own := func(path string) string { return module + "/" + path }
	for _, c := range []struct {
		name string
		pkg  Package
		want string // part of the message; empty: allowed
	}{
		{"upwards", Package{Path: "host/kernel/batch", Imports: []string{own("host/expr")}}, "imports go to lower rings"},
		{"downwards", Package{Path: "host/expr", Imports: []string{own("host/kernel/batch")}}, ""},
		{"unlisted edge", Package{Path: "host/ack", Imports: []string{own("host/branch")}}, "no such edge"},
		{"listed edge", Package{Path: "host/kernel/batch", Imports: []string{own("host/kernel/lineage")}}, ""},
		{"edge backwards", Package{Path: "host/kernel/lineage", Imports: []string{own("host/kernel/batch")}}, "no such edge"},
		{"node imports relay", Package{Path: "host/node/junction", Imports: []string{own("host/relay/owner")}}, "no such edge"},
		{"relay imports node", Package{Path: "host/relay/owner", Imports: []string{own("host/node/runtime")}}, "no such edge"},
		{"node imports runtime", Package{Path: "host/node/junction", Imports: []string{own("host/node/runtime")}}, ""},
		{"package to come", Package{Path: "host/new", Imports: []string{own("host/osclock"), own("host/ack")}}, ""},
		{"package to come, edge", Package{Path: "host/new", Imports: []string{own("host/lanes")}}, "no such edge"},
		{"engine imports all", Package{Path: "host/engine", Imports: []string{own("host/relay/owner"), own("host/node/junction")}}, ""},
		{"engine imports an adapter", Package{Path: "host/engine", Imports: []string{own("dragon")}}, "nothing in host imports an adapter"},
		{"adapter imports its port", Package{Path: "dragon", Imports: []string{own("host/registry"), "sync", "context"}}, ""},
		{"adapter imports the engine", Package{Path: "dragon", Imports: []string{own("host/engine")}}, "declares its port"},
		{"generated code", Package{Path: "host/session/transport", Imports: []string{own("host/wire/gen/sessionfb")}}, "only host/wire reads generated code"},
		{"verified code", Package{Path: "host/wire", Imports: []string{own("host/wire/gen/sessionfb")}}, ""},
		{"client", Package{Path: "client", Imports: []string{own("host/control")}}, "the client is built from"},
		{"client within", Package{Path: "client", Imports: []string{own("host/wire"), own("host/nspl/parse"), own("host/kernel/fault")}}, ""},
		{"test kit in product code", Package{Path: "host/node/junction", Imports: []string{own("host/node/nodetest")}}, "which is for tests"},
		{"cgo", Package{Path: "host/state", Cgo: true}, "uses cgo"},
		{"cgo inside the fence", Package{Path: "wasm/engine/shim", Cgo: true}, ""},
		{"lock in a pure package", Package{Path: "host/branch", Imports: []string{"sync"}}, "locks"},
		{"atomic in ack", Package{Path: "host/ack", Imports: []string{"sync/atomic"}}, ""},
		{"atomic elsewhere", Package{Path: "host/branch", Imports: []string{"sync/atomic"}}, "sync/atomic"},
		{"socket", Package{Path: "host/model", Imports: []string{"net/http"}}, "sockets"},
		{"address type", Package{Path: "host/model", Imports: []string{"net/netip"}}, ""},
		{"context", Package{Path: "host/registry", Imports: []string{"context"}}, "waiting"},
		{"random", Package{Path: "host/expr", Imports: []string{"math/rand/v2"}}, "global random"},
		{"goroutine", Package{Path: "host/expr", Starts: []string{"a.go:1"}}, "starts a goroutine"},
		{"goroutine in a driver", Package{Path: "host/lanes", Starts: []string{"a.go:1"}}, ""},
		{"clock", Package{Path: "host/lanes", Reads: []string{"a.go:1"}}, "reads or waits for the clock"},
		{"clock in its reader", Package{Path: "host/osclock", Reads: []string{"a.go:1"}}, ""},
		{"Arrow below batch", Package{Path: "host/kernel/lineage", Imports: []string{"github.com/apache/arrow-go/v18/arrow"}}, "Arrow begins"},
		{"Arrow IPC inside", Package{Path: "host/node/runtime", Imports: []string{"github.com/apache/arrow-go/v18/arrow/ipc"}}, "at borders only"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Check(module, []Package{c.pkg})
			switch {
			case c.want == "" && len(got) > 0:
				t.Fatalf("allowed, but: %v", got)
			case c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)):
				t.Fatalf("got %q, want one violation that says %q", got, c.want)
			}
		})
	}
}

// Exceptions without a reason are holes.
func TestEveryExceptionHasAReason(t *testing.T) {
	for _, e := range edges {
		if e.why == "" {
			t.Errorf("edge %s -> %s", e.from, e.to)
		}
	}
	for k, why := range kits {
		if why == "" {
			t.Errorf("kit %s", k)
		}
	}
}
