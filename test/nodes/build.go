// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Programs are the binaries under test.
type Programs struct {
	// Daemon is nervixd; File is the file connector in the folder of connectors beside it.
	Daemon, File string
}

// built is set by Main.
var built Programs

// Main builds the programs, runs the tests and removes the programs. NERVIX_RACE=1 builds the daemon with the race detector. NERVIX_PROGRAMS
// names a folder that `make build` filled; then nothing is built.
func Main(m *testing.M) {
	if ready := os.Getenv("NERVIX_PROGRAMS"); ready != "" {
		built = Programs{Daemon: filepath.Join(ready, "nervixd"), File: filepath.Join(ready, "connectors", "file")}
		os.Exit(m.Run())
	}
	folder, err := os.MkdirTemp("", "nervix-e2e-")
	code := 1
	if err == nil {
		if built, err = build(folder); err == nil {
			code = m.Run()
		}
		os.RemoveAll(folder)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "building the programs under test:", err)
	}
	os.Exit(code)
}

// Built gives the programs that Main built.
func Built() Programs { return built }

func build(folder string) (Programs, error) {
	p := Programs{Daemon: filepath.Join(folder, "nervixd"), File: filepath.Join(folder, "connectors", "file")}
	const module = "github.com/nervix-go/nervix/"
	daemon := []string{"build", "-o", p.Daemon}
	if os.Getenv("NERVIX_RACE") == "1" {
		daemon = append(daemon, "-race")
	}
	if err := compile(nil, append(daemon, module+"cmd/nervixd")...); err != nil {
		return p, err
	}
	if err := compile([]string{"CGO_ENABLED=0"}, "build", "-o", p.File, module+"connectors/file"); err != nil {
		return p, err
	}
	text, err := exec.Command(p.File, "--descriptor").Output()
	if err != nil {
		return p, fmt.Errorf("the descriptor of the file connector: %w", err)
	}
	return p, os.WriteFile(p.File+".json", text, 0o644)
}

func compile(env []string, arguments ...string) error {
	c := exec.Command("go", arguments...)
	c.Env = append(os.Environ(), env...)
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go %v: %w\n%s", arguments, err, text)
	}
	return nil
}
