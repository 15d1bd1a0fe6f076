// SPDX-License-Identifier: Apache-2.0

package dragon_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/dragon"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/registry"
)

const base = int64(1_700_000_000_000)

// reference is the execution reference of definition n, the same in every life of the child.
func reference(n int) ident.Reference {
	var random [10]byte
	binary.BigEndian.PutUint32(random[6:], uint32(n))
	return ident.NewReference(base, random)
}

func command(n int, body registry.Body) *registry.Command {
	return &registry.Command{UTC: vtime.UTCFromNS(base * 1e6), Reference: reference(n), User: "ann", Domain: "d", Body: body}
}

func schema(n int) registry.Key {
	return registry.Key{Kind: ident.KindSchema, Name: ident.Name(fmt.Sprintf("s%d", n))}
}

// defineForever is the child: it opens the log, tells what is there, and defines one schema after another until it is killed. The
// definition NERVIX_TEST_NEXT may have been proposed before with its reference.
func defineForever() {
	var next int
	_, err := fmt.Sscan(os.Getenv("NERVIX_TEST_NEXT"), &next)
	must(err)
	fmt.Println("open")
	l, err := dragon.Open(dragon.Config{
		Dir: os.Getenv("NERVIX_TEST_DIR"), Cluster: "c", Node: 7, Logger: slog.New(slog.DiscardHandler), SnapshotEntries: 100,
	})
	must(err)
	ctx := context.Background()
	must(l.WaitLeader(ctx))
	setUp(ctx, l)
	for _, k := range l.State().Domains["d"].Keys() {
		fmt.Println("have", k.Name)
	}
	fmt.Println("ready")
	for n := next; ; n++ {
		fmt.Println("try", n)
		d := l.State().Domains["d"]
		res, err := l.Propose(ctx, registry.EncodeCommand(command(n, &registry.MutateModels{
			Domain: "d", Base: d.Model, Puts: []registry.Put{{Key: schema(n), Text: "CREATE SCHEMA x;", Grammar: 1}},
		})))
		must(err)
		if res.Outcome.Failed() || res.Verdict == registry.Stale {
			must(fmt.Errorf("definition %d: %s %s", n, res.Verdict, res.Outcome.Text))
		}
		fmt.Println("done", n, res.Verdict)
	}
}

func setUp(ctx context.Context, l *dragon.Log) {
	if l.State().Domains["d"] != nil {
		return
	}
	for n, b := range []registry.Body{
		&registry.Bootstrap{Cluster: "c", Limits: registry.DefaultLimits()},
		&registry.CreateDomain{Name: "d", Text: "CREATE UNPACED DOMAIN d;", Grammar: 1, Pace: registry.Unpaced, Placement: registry.PlacementNeutral},
	} {
		_, err := l.Propose(ctx, registry.EncodeCommand(command(1_000_000+n, b)))
		must(err)
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(9)
	}
}

// history is what the parent knows from what all children printed.
type history struct {
	answered map[int]bool
	tried    int // the greatest definition that was proposed, -1 for none
	kept     int
}

func (h *history) next() int {
	if h.tried >= 0 && !h.answered[h.tried] {
		return h.tried
	}
	return h.tried + 1
}

// TestKilledWhileDefining kills 100 processes on four folders side by side: most of a life is spent waiting for the election.
func TestKilledWhileDefining(t *testing.T) {
	// req: G-001 half: one node, so no partition; definitions come back from committed state alone
	// req: G-002
	// req: G-005
	const folders, kills = 4, 25
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for i := range uint64(folders) {
		t.Run(fmt.Sprint("folder ", i), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, i))
			h := &history{answered: map[int]bool{}, tried: -1}
			dir := t.TempDir()
			for range kills {
				h.live(t, dir, rng)
			}
			t.Logf("%d kills, %d definitions answered, %d settled by their reference", kills, len(h.answered), h.kept)
			if len(h.answered) < kills {
				t.Errorf("only %d definitions were answered; the children hardly ran", len(h.answered))
			}
		})
	}
}

// live runs one child and kills it at a random moment: while it opens, or after some lines and a fraction of a commit.
func (h *history) live(t *testing.T, dir string, rng *rand.Rand) {
	lines := 1 + rng.IntN(60)
	if rng.IntN(5) == 0 {
		lines = 0
	}
	delay := time.Duration(rng.IntN(1500)) * time.Microsecond
	if lines == 0 {
		delay *= 30
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"=define", "NERVIX_TEST_DIR="+dir, fmt.Sprint("NERVIX_TEST_NEXT=", h.next()))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h.read(t, bufio.NewScanner(out), lines, func() {
		_ = osclock.Wait(context.Background(), delay)
		_ = cmd.Process.Kill()
	})
	if err := cmd.Wait(); cmd.ProcessState.Exited() {
		t.Fatalf("the child ended by itself: %v", err)
	}
}

func (h *history) read(t *testing.T, s *bufio.Scanner, lines int, kill func()) {
	have := map[ident.Name]bool{}
	left := -1
	if lines == 0 {
		left = 0
	}
	for s.Scan() {
		word, rest, _ := strings.Cut(s.Text(), " ")
		var n int
		_, _ = fmt.Sscan(rest, &n)
		switch word {
		case "have":
			have[ident.Name(rest)] = true
		case "ready":
			h.check(t, have)
			if left < 0 {
				left = lines
			}
		case "try":
			h.tried = n
		case "done":
			h.answered[n] = true
			if strings.HasSuffix(rest, "kept") {
				h.kept++
			}
		}
		if left == 0 {
			go kill()
		}
		left--
	}
}

// check compares what a restarted child has with what was answered before: all of it, and nothing that nobody proposed.
func (h *history) check(t *testing.T, have map[ident.Name]bool) {
	for n := range h.answered {
		if !have[schema(n).Name] {
			t.Errorf("definition %d was answered and is gone", n)
		}
	}
	if len(have) > h.tried+1 {
		t.Errorf("%d definitions, though only %d were proposed", len(have), h.tried+1)
	}
}
