// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersionLine(t *testing.T) {
	// req: X-304 half: --version
	info := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "abc123"}
	whole := debug.BuildSetting{Key: "vcs.revision", Value: "b1491011b73e59dd8449a27d7bcd16573a35c2af"}
	for _, c := range []struct {
		info *debug.BuildInfo
		want string
	}{
		{nil, "nervix " + version + " commit unknown go"},
		{info("(devel)"), "nervix " + version + " commit unknown go"},
		{info("v1.2.3", revision), "nervix v1.2.3 commit abc123 go"},
		{info("v1.2.3+dirty", whole), "nervix v1.2.3 commit b1491011b73e59dd8449a27d7bcd16573a35c2af go"},
		{info("v0.0.0-20261201032059-b1491011b73e+dirty", whole), "nervix " + version + " commit b1491011b73e59dd8449a27d7bcd16573a35c2af go"},
		{info("", revision, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), "nervix " + version + " commit abc123+modified go"},
		{info("", debug.BuildSetting{Key: "vcs.modified", Value: "true"}), "nervix " + version + " commit unknown go"},
	} {
		if line := versionOf(c.info).line(); !strings.HasPrefix(line, c.want) || strings.Count(line, "\n") != 1 {
			t.Errorf("got %q, want it to begin with %q", line, c.want)
		}
	}
}
