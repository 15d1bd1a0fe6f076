// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the release build; a build that knows its module version, as that of `go install`, shows that one.
var version = "0.1.0-dev"

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
		if v := info.Main.Version; v != "" && v != "(devel)" {
			shown = v
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				commit = " commit " + s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				modified = "+modified"
			}
		}
	}
	if commit != "" {
		commit += modified
	}
	return fmt.Sprintf("nervixd %s %s %s/%s%s\n", shown, runtime.Version(), runtime.GOOS, runtime.GOARCH, commit)
}
