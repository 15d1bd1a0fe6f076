// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nervix-go/nervix/host/control"
)

// unreleased is the version of a build that knows no other.
const unreleased = "0.1.0-dev"

// version is set by the linker in the release build. Another build shows its module version, as that of `go install`.
var version = unreleased

// moduleVersion is that of a build of a released module; empty in one from a checkout between releases, whose revision says what it is.
func moduleVersion(shown, revision string) string {
	if shown == "(devel)" || len(revision) >= 12 && strings.Contains(shown, revision[:12]) {
		return ""
	}
	return strings.TrimSuffix(shown, "+dirty") // the revision is marked
}

// versionReport is the line of `nervix version --format jsonl`.
type versionReport struct {
	Version string `json:"version"`
	// Commit is empty when the build did not know it.
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	Grammar int    `json:"grammar"`
}

// line is what `nervix version` and `nervix --version` print.
func (r versionReport) line() string {
	known := r.Commit
	if known == "" {
		known = "unknown"
	}
	return fmt.Sprintf("nervix %s commit %s %s %s/%s grammar %d\n", r.Version, known, r.Go, runtime.GOOS, runtime.GOARCH, r.Grammar)
}

func versionCommand(t terminal, o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print version, commit, Go version and grammar version; --format jsonl or json for an object",
		Args:  none("version takes none"),
		RunE: func(*cobra.Command, []string) error {
			r := thisVersion()
			if o.format != formatTable {
				return writeLine(t.out, r)
			}
			_, err := fmt.Fprint(t.out, r.line())
			return err
		},
	}
}

// thisVersion is that of this binary.
func thisVersion() versionReport {
	info, _ := debug.ReadBuildInfo() // nil when the build kept none
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) versionReport {
	r := versionReport{Version: version, Go: runtime.Version(), Grammar: control.GrammarVersion}
	if info == nil {
		return r
	}
	modified := ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			r.Commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+modified"
		}
	}
	if v := moduleVersion(info.Main.Version, r.Commit); v != "" && version == unreleased {
		r.Version = v
	}
	if r.Commit != "" {
		r.Commit += modified
	}
	return r
}
