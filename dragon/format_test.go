// SPDX-License-Identifier: Apache-2.0

package dragon_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/dragon"
	"github.com/nervix-go/nervix/host/wire"
)

// readAnotherFormat is a child whose log gets an entry of an earlier version.
func readAnotherFormat() {
	l, err := dragon.Open(dragon.Config{
		Dir: os.Getenv("NERVIX_TEST_DIR"), Cluster: "c", Node: 7, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	must(err)
	ctx := context.Background()
	must(l.WaitLeader(ctx))
	_, _ = l.Propose(ctx, wire.EncodeControlCommand(&wire.ControlCommand{
		Format: 1, Body: &wire.ControlBody{Type: wire.ControlBodyConclude, Value: &wire.ControlConclude{}},
	}))
	os.Exit(0)
}

// TestAFolderOfAnotherFormatIsRefused lets a process meet a command of an earlier format: it ends with one reason that says so.
func TestAFolderOfAnotherFormatIsRefused(t *testing.T) {
	// req: G-014 half: control data; the node's own store is host/state's
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"=format", "NERVIX_TEST_DIR="+t.TempDir())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	_ = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit %d, want 1", code)
	}
	reasons := 0
	for line := range strings.Lines(stderr.String()) {
		if strings.Contains(line, "level=ERROR") {
			reasons++
		}
	}
	if reasons != 1 || !strings.Contains(stderr.String(), "code=control.format") || !strings.Contains(stderr.String(), "format 1; this version reads 2; open the data folder with the version that wrote it") {
		t.Errorf("%d reasons, want one that names the formats:\n%s", reasons, stderr.String())
	}
}
