// SPDX-License-Identifier: Apache-2.0

package uploads

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/test/nodes"
)

// TestCommandLine: `nervix upload` and UPLOAD RESOURCE in a text, on a real node.
func TestCommandLine(t *testing.T) {
	// req: X-302 half: UPLOAD
	t.Parallel()
	program := filepath.Join(t.TempDir(), "nervix")
	if ready := os.Getenv("NERVIX_PROGRAMS"); ready != "" {
		program = filepath.Join(ready, "nervix")
	} else if text, err := exec.Command("go", "build", "-o", program, "github.com/nervix-go/nervix/cmd/nervix").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	o := folders(t)
	n := nodes.Start(t, o)
	work := t.TempDir()
	nodes.WriteFile(t, filepath.Join(work, "models/a.wasm"), []byte("\x00asm"))
	if err := os.Symlink("a.wasm", filepath.Join(work, "models/link")); err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(work, "home")
	nodes.WriteFile(t, filepath.Join(home, "m/b"), []byte("b"))
	nervix := func(arguments ...string) nodes.Finished {
		t.Helper()
		c := exec.Command(program, arguments...)
		c.Env = append(os.Environ(), "NERVIX_CONTEXT="+filepath.Join(o.Data, "context.json"), "HOME="+home)
		return nodes.RunCommand(t, work, c)
	}
	for _, c := range []struct {
		arguments      []string
		code           int
		stdout, stderr string
	}{
		{[]string{"-c", "CREATE DOMAIN one; USE one; CREATE RESOURCE models"}, 0, "*", ""},
		{[]string{"--domain", "one", "upload", "models", "models"}, 0, "1\n", `left out "link": it is a symbolic link`},
		{[]string{"--domain", "ONE", "upload", "Models", "models", "--format", "jsonl"}, 0, `*"version":2`, ""},
		{[]string{"--domain", "one", "-c", "UPLOAD RESOURCE models VERSION '~/m'; DESCRIBE RESOURCE models"}, 0, "*latest: 3", ""},
		{[]string{"--domain", "one", "-c", "UPLOAD RESOURCE models VERSION 'absent'"}, 1, "", "error[resource.folder]"},
		{[]string{"--domain", "one", "--atomic", "-c", "CREATE RESOURCE more; UPLOAD RESOURCE more VERSION 'models'"}, 2, "", "error[cli.atomic]"},
		{[]string{"--domain", "one", "-c", "BEGIN; UPLOAD RESOURCE models VERSION 'models'; COMMIT"}, 1, "*", "error[transaction.content]"},
		{[]string{"--domain", "one", "upload", "models", "absent"}, 2, "", "resource.folder"},
		{[]string{"--domain", "one", "upload", "nothing", "models"}, 1, "", "resource.unknown"},
		{[]string{"upload", "models", "models"}, 2, "", "needs --domain"},
	} {
		got := nervix(c.arguments...)
		out, part := strings.CutPrefix(c.stdout, "*")
		if got.Code != c.code || !strings.Contains(got.Stderr, c.stderr) || part && !strings.Contains(got.Stdout, out) || !part && got.Stdout != out {
			t.Errorf("%v: exit %d\n%s\n%s", c.arguments, got.Code, got.Stdout, got.Stderr)
		}
	}
	n.Stop()
	if got := nervix("--domain", "one", "upload", "models", "models"); got.Code != 4 || got.Stdout != "" {
		t.Errorf("exit %d: %s", got.Code, got.Stderr)
	}
}
