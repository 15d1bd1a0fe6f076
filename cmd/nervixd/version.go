// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
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

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print version, Go version and commit",
		Args:  noArguments,
		Run: func(cmd *cobra.Command, _ []string) {
			fmt.Fprint(cmd.OutOrStdout(), versionLine())
		},
	}
}

// versionLine is what `nervixd version` and `nervixd --version` print.
func versionLine() string {
	info, _ := debug.ReadBuildInfo() // nil when the build kept none
	shown, commit, modified := version, "", ""
	if info != nil {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				modified = "+modified"
			}
		}
		if v := moduleVersion(info.Main.Version, commit); v != "" && version == unreleased {
			shown = v
		}
	}
	if commit != "" {
		commit = " commit " + commit + modified
	}
	return fmt.Sprintf("nervixd %s %s %s/%s%s\n", shown, runtime.Version(), runtime.GOOS, runtime.GOARCH, commit)
}
