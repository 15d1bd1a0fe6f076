// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// programs is the folder with nervix, nervixd and connectors.
var programs string

func TestMain(m *testing.M) {
	code, err := prepare(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// prepare builds the programs, unless NERVIX_PROGRAMS names a folder that `make build` filled.
func prepare(m *testing.M) (code int, err error) {
	folder, err := os.MkdirTemp("", "nervix-cli-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(folder)
	if programs = os.Getenv("NERVIX_PROGRAMS"); programs == "" {
		programs = filepath.Join(folder, "bin")
		if err := build(programs); err != nil {
			return 1, err
		}
	}
	return m.Run(), nil
}

func build(folder string) error {
	const module = "github.com/nervix-go/nervix/"
	file := filepath.Join(folder, "connectors", "file")
	for _, b := range []struct{ cgo, output, path string }{
		{"1", filepath.Join(folder, "nervixd"), "cmd/nervixd"}, {"0", filepath.Join(folder, "nervix"), "cmd/nervix"}, {"0", file, "connectors/file"},
	} {
		c := exec.Command("go", "build", "-o", b.output, module+b.path)
		c.Env = append(os.Environ(), "CGO_ENABLED="+b.cgo)
		if text, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w\n%s", b.path, err, text)
		}
	}
	descriptor, err := exec.Command(file, "--descriptor").Output()
	if err != nil {
		return err
	}
	return os.WriteFile(file+".json", descriptor, 0o644)
}
