// SPDX-License-Identifier: Apache-2.0

// Command licenses lists the licence of every module the product links, read from the modules' own licence files. It fails when a module
// has none that it knows. Run it through `make licenses`.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

type module struct {
	Path, Version, Dir string
	Main               bool
}

func main() {
	modules, err := linked(os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
	unknown := 0
	for _, m := range modules {
		names := licenses(m.Dir)
		if len(names) == 0 {
			unknown++
			names = []string{"UNKNOWN"}
		}
		fmt.Printf("%-60s %-50s %s\n", m.Path, m.Version, strings.Join(names, ", "))
	}
	if unknown > 0 {
		fmt.Fprintf(os.Stderr, "licenses: %d modules have no licence file that is known\n", unknown)
		os.Exit(1)
	}
}

// linked lists the modules of the packages that the given patterns link, without the main module.
func linked(patterns []string) ([]module, error) {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=Module"}, patterns...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	seen := map[string]module{}
	for decoder := json.NewDecoder(out); ; {
		var p struct{ Module *module }
		if err := decoder.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		if p.Module != nil && !p.Module.Main {
			seen[p.Module.Path] = *p.Module
		}
	}
	if err := cmd.Wait(); err != nil {
		return nil, err
	}
	modules := make([]module, 0, len(seen))
	for _, m := range seen {
		modules = append(modules, m)
	}
	slices.SortFunc(modules, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return modules, nil
}

// licenses names the licences in the files of a module's top folder that are called after one, whatever their case.
func licenses(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		if e.IsDir() || !strings.HasPrefix(name, "LICENSE") && !strings.HasPrefix(name, "LICENCE") && !strings.HasPrefix(name, "COPYING") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		for _, match := range licensecheck.Scan(text).Match {
			if !slices.Contains(names, match.ID) {
				names = append(names, match.ID)
			}
		}
	}
	return names
}
