// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/nervix-go/nervix/host/control"
)

// version is set by the release build.
var version = "0.1.0-dev"

// versionReport is the line of `nervix version --format jsonl`.
type versionReport struct {
	Version string `json:"version"`
	// Commit is empty when the build did not know it.
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	Grammar int    `json:"grammar"`
}

func versionCommand(t terminal, o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print version, commit, Go version and grammar version; --format jsonl or json for an object",
		Args:  none("version takes none"),
		RunE: func(*cobra.Command, []string) error {
			r := versionReport{Version: version, Commit: commit(), Go: runtime.Version(), Grammar: control.GrammarVersion}
			if o.format != formatTable {
				return writeLine(t.out, r)
			}
			known := r.Commit
			if known == "" {
				known = "unknown"
			}
			_, err := fmt.Fprintf(t.out, "nervix %s commit %s %s %s/%s grammar %d\n", r.Version, known, r.Go, runtime.GOOS, runtime.GOARCH, r.Grammar)
			return err
		},
	}
}

// commit is the revision the binary was built from.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
