// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"testing"
)

func textLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelInfo}))
}

const childFolder = "NERVIX_STATE_CHILD"

// kill -9 of a process at work, on the real file system: every sequence it printed as durable is stored.
func TestKill(t *testing.T) {
	// req: D05
	if dir := os.Getenv(childFolder); dir != "" {
		childWrites(dir)
		return
	}
	dir := t.TempDir() + "/state"
	stored := uint64(0)
	for round := range 5 {
		child := exec.Command(os.Args[0], "-test.run=^TestKill$")
		child.Env = append(os.Environ(), childFolder+"="+dir)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		printed := uint64(0)
		for n := 0; lines.Scan(); n++ {
			if _, err := fmt.Sscan(lines.Text(), &printed); err != nil {
				t.Fatal(lines.Text())
			}
			if n == 20+7*round {
				if err := child.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = child.Wait() // killed
		s, err := Open(dir, options(nil))
		if err != nil {
			t.Fatal(err)
		}
		p, _, err := s.GetPosition(key(0, 1, 0))
		if err != nil || p.Sequence < printed || printed <= stored {
			t.Fatalf("round %d: stored %d, printed %d, before %d, %v", round, p.Sequence, printed, stored, err)
		}
		stored = p.Sequence
		mustClose(t, s)
	}
}

// childWrites puts positions until it is killed, and prints each that is durable.
func childWrites(dir string) {
	s, err := Open(dir, options(nil))
	if err != nil {
		panic(err)
	}
	p, _, _ := s.GetPosition(key(0, 1, 0))
	for n := p.Sequence + 1; ; n++ {
		if err := s.PutPosition(key(0, 1, 0), position(n)).Wait(context.Background()); err != nil {
			panic(err)
		}
		if _, err := fmt.Println(n); err != nil {
			return
		}
	}
}
