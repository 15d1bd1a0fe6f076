// SPDX-License-Identifier: Apache-2.0

package clockowners

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// exports are the compiled packages that snippets import.
func exports(t *testing.T, packages ...string) types.Importer {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}, packages...)...)
	cmd.Dir = "../.."
	var stderr strings.Builder
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	files := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		if path, file, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			files[path] = file
		}
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
}

// Logical and physical deadlines do not convert: each wait takes its own kind and refuses the other. These are signatures, evidence for no behaviour.
func TestDeadlinesDoNotMix(t *testing.T) {
	// req: C-137
	// req: C-212 half: the call-outs of expressions come with UDFs
	from := exports(t, module+"/host/timekeeper", module+"/host/osclock", module+"/host/kernel/vtime", "context", "time")
	for _, c := range []struct {
		body string
		fits bool
	}{
		{"_, _ = h.Wait(ctx, h.Deadline(at))", true},
		{"_, _ = h.Wait(ctx, osclock.After(time.Second))", false},
		{"_, _ = h.Wait(ctx, at)", false},
		{"_, _ = h.Wait(ctx, time.Second)", false},
		{"_ = osclock.WaitUntil(ctx, osclock.After(time.Second))", true},
		{"_ = osclock.WaitUntil(ctx, h.Deadline(at))", false},
		{"_ = osclock.WaitUntil(ctx, at)", false},
		{"_ = osclock.Deadline(h.Deadline(at))", false},
		{"_ = timekeeper.Deadline(osclock.After(time.Second))", false},
		{"_ = timekeeper.Deadline{}", true}, // the zero value belongs to no clock, and no wait takes it
		{"_ = h.Deadline(mono)", false},
		{"_ = h.Deadline(at)", true},
		{"_ = vtime.Logical(mono)", false},
		{"_ = vtime.Mono(at)", false},
	} {
		text := "package p\nimport (\"context\"; \"time\"; \"" + module + "/host/timekeeper\"; \"" + module + "/host/osclock\"; \"" + module + "/host/kernel/vtime\")\n" +
			"var _ = time.Second\nvar _ timekeeper.Keeper\nvar _ osclock.Timer\n" +
			"func f(ctx context.Context, h *timekeeper.Handle, at vtime.Logical, mono vtime.Mono) {\n\t" + c.body + "\n}\n"
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, "p.go", text, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = (&types.Config{Importer: from}).Check("p", set, []*ast.File{tree}, nil)
		switch {
		case c.fits && err != nil:
			t.Errorf("%s: %v", c.body, err)
		case !c.fits && err == nil:
			t.Errorf("%s compiles", c.body)
		case !c.fits && !strings.Contains(err.Error(), "cannot"):
			t.Errorf("%s fails for another reason: %v", c.body, err)
		}
	}
}
