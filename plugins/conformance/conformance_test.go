// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/nervix-go/nervix/connectors/file/fileconn"
	"github.com/nervix-go/nervix/plugins/inproc"
	"github.com/nervix-go/nervix/plugins/supervise"
)

// built holds bin/connectors/<kind> as the build makes it.
var built string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "conn")
	if err != nil {
		panic(err)
	}
	built = dir
	if err := buildConnector(dir, "file", "../../connectors/file"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	if code == 0 {
		err := goleak.Find()
		for range 60 { // connections and processes take their time to end on a slow machine
			if err == nil {
				break
			}
			err = goleak.Find()
		}
		if err != nil {
			println(err.Error())
			code = 1
		}
	}
	os.Exit(code)
}

func buildConnector(dir, kind, source string) error {
	binary := filepath.Join(dir, kind)
	build := exec.Command("go", "build", "-o", binary, source)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	d, err := exec.Command(binary, "--descriptor").Output()
	if err != nil {
		return err
	}
	return os.WriteFile(binary+".json", d, 0o600)
}

func closing(t *testing.T, h *supervise.Host) {
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func testLog(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), nil))
}

// root gives a directory whose name is real, as error texts show it.
func root(t *testing.T) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestInProcess(t *testing.T) {
	// req: P-013
	Run(t, func(t *testing.T) Subject {
		dir := root(t)
		launcher, installed := inproc.New(nil, fileconn.Connector())
		h := supervise.New(supervise.Options{Connectors: installed, Launcher: launcher, FileRoot: dir, Log: testLog(t)})
		closing(t, h)
		return Subject{h, dir, func() { launcher.Crash("file") }}
	})
}

func TestProcess(t *testing.T) {
	// req: P-013
	installed, problems := supervise.Discover(built)
	if len(problems) != 0 || len(installed) != 1 {
		t.Fatalf("%v %v", installed, problems)
	}
	Run(t, func(t *testing.T) Subject {
		dir := root(t)
		h := supervise.New(supervise.Options{Connectors: installed, FileRoot: dir, Log: testLog(t)})
		closing(t, h)
		return Subject{h, dir, func() {
			if err := unix.Kill(h.Status()[0].PID, unix.SIGKILL); err != nil {
				t.Error(err)
			}
		}}
	})
}
