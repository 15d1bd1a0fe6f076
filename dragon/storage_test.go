// SPDX-License-Identifier: Apache-2.0

package dragon_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/nervix-go/nervix/dragon"
	"github.com/nervix-go/nervix/host/registry"
)

// fillTheDisk is a child whose files may not grow beyond a limit, which fails writes as a full disk does.
func fillTheDisk() {
	signal.Ignore(syscall.SIGXFSZ)
	l, err := dragon.Open(dragon.Config{
		Dir: os.Getenv("NERVIX_TEST_DIR"), Cluster: "c", Node: 7, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	})
	must(err)
	ctx := context.Background()
	must(l.WaitLeader(ctx))
	setUp(ctx, l)
	must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 300 << 10, Max: 300 << 10}))
	for n := range 1000 {
		_, err := l.Propose(ctx, registry.EncodeCommand(command(n, &registry.MutateModels{
			Domain: "d", Base: l.State().Domains["d"].Model,
			Puts: []registry.Put{{Key: schema(n), Text: strings.Repeat("x", 16<<10), Grammar: 1}},
		})))
		must(err)
	}
}

func TestStorageFailureEndsTheProcess(t *testing.T) {
	// req: G-006
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"=fill", "NERVIX_TEST_DIR="+t.TempDir())
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
	if reasons != 1 || !strings.Contains(stderr.String(), "file too large") {
		t.Errorf("%d reasons, want one that names the cause:\n%s", reasons, stderr.String())
	}
}
