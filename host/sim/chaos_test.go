// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var only = flag.Int64("seed", -1, "run this seed alone, with a line for every event")

// chaos is how long the disturbances of a run last.
const chaos = 10 * time.Second

// configOf spreads seeds over clusters of one, three and five nodes, half of the larger ones with a node that joins late.
func configOf(seed uint64) Config {
	c := Config{Seed: seed, Nodes: []int{1, 3, 5}[seed%3]}
	if c.Nodes > 1 && seed%2 == 0 {
		c.Late = 1
	}
	return c
}

// committed are the seeds that once failed, and some that cover much; they run first.
func committed(t *testing.T) []uint64 {
	text, err := os.ReadFile("testdata/seeds.txt")
	if err != nil {
		t.Fatal(err)
	}
	var seeds []uint64
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		line, _, _ := strings.Cut(s.Text(), "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		n, err := strconv.ParseUint(line, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, n)
	}
	return seeds
}

// TestChaoticClusters runs every check after every event of 200 runs, and of thousands under NERVIX_SOAK=1.
func TestChaoticClusters(t *testing.T) {
	// req: C-004, C-008, C-009, C-013, C-015, C-025, C-028, C-035, C-043, C-047, C-048, C-049, C-050, C-051 half: simulated nodes
	// req: C-052, C-054, C-055, C-058, C-060, C-061, C-062, C-066, C-067, C-068, C-069, C-075, C-080, C-082 half: simulated nodes
	// req: C-023, C-040, C-041 half: simulated nodes and a simulated log
	// req: I04 half: simulated nodes
	if *only >= 0 {
		c := configOf(uint64(*only))
		c.Trace = func(line string) { t.Log(line) }
		s := New(c)
		err := s.Chaos(chaos)
		t.Logf("%+v", s.Judged())
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	seeds := committed(t)
	random := uint64(200)
	if os.Getenv("NERVIX_SOAK") == "1" {
		random = 20_000
	}
	for i := range random {
		seeds = append(seeds, i)
	}
	const shards = 4
	sums := make([]Judged, shards)
	t.Run("shards", func(t *testing.T) {
		for shard := range shards {
			t.Run(fmt.Sprint(shard), func(t *testing.T) {
				t.Parallel()
				for i := shard; i < len(seeds); i += shards {
					sums[shard].add(runSeed(t, seeds[i]))
				}
			})
		}
	})
	var sum Judged
	for _, j := range sums {
		sum.add(j)
	}
	t.Logf("%d seeds: %+v", len(seeds), sum)
	if least := len(seeds); sum.Accepted < 20*least || sum.Refused < least || sum.Coalesced < least/4 || sum.Takeovers < least || sum.Stale < least/4 || sum.Crashes < least || sum.Steps < least {
		t.Errorf("the runs saw too little to mean anything: %+v", sum)
	}
}

func runSeed(t *testing.T, seed uint64) Judged {
	s := New(configOf(seed))
	if err := s.Chaos(chaos); err != nil {
		t.Errorf("seed %d: %v\nreplay: go test ./host/sim -run 'TestChaoticClusters$' -seed=%d -v\nthen add the seed to host/sim/testdata/seeds.txt", seed, err, seed)
	}
	return s.Judged()
}

func (j *Judged) add(o Judged) {
	j.Events += o.Events
	j.Reads += o.Reads
	j.Accepted += o.Accepted
	j.Refused += o.Refused
	j.Emitted += o.Emitted
	j.Sent += o.Sent
	j.Coalesced += o.Coalesced
	j.Takeovers += o.Takeovers
	j.Commits += o.Commits
	j.Stale += o.Stale
	j.Crashes += o.Crashes
	j.Steps += o.Steps
}

func TestASeedIsARun(t *testing.T) {
	trace := func(seed uint64) (lines []string, j Judged) {
		c := configOf(seed)
		c.Trace = func(line string) { lines = append(lines, line) }
		s := New(c)
		if err := s.Chaos(4 * time.Second); err != nil {
			t.Fatal(err)
		}
		return lines, s.Judged()
	}
	for _, seed := range []uint64{1, 2, 3} {
		first, a := trace(seed)
		again, b := trace(seed)
		if !slices.Equal(first, again) || a != b {
			t.Errorf("seed %d gave two runs", seed)
		}
	}
}

// TestEveryBrokenRuleIsSeen breaks one obligation after the other, and asks for the check that must see it.
func TestEveryBrokenRuleIsSeen(t *testing.T) {
	// req: C-213 half: what the simulation covers, nondecreasing reads, refusal of a replaced generation, publication order, reassignment, a new generation
	for rule, checks := range map[Rule][]string{
		RawReads:        {"reads decrease"},
		TimeFromTicks:   {"reading"},
		AnyGeneration:   {"foreign report"},
		AnyRevision:     {"foreign report"},
		AnyIncarnation:  {"foreign report"},
		AnySender:       {"foreign report"},
		OlderTicks:      {"shown tick"},
		KeptTicks:       {"shown tick"},
		FencesWithGraph: {"takeover waits"},
		LateGraphWins:   {"false advertisement", "uncommitted installation"},
		BlindCommit:     {"illegal commit"},
		LeaderMoves:     {"moved an eligible authority"},
		Reanchor:        {"illegal commit"},
		SeveralReports:  {"several reports"},
		UnaskedReports:  {"unasked report"},
		EveryTick:       {"wrong tick"},
	} {
		t.Run(rule.String(), func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(60) {
				c := configOf(seed)
				c.Break = rule
				err := New(c).Chaos(chaos)
				if err == nil {
					continue
				}
				v, ok := err.(*Violation)
				if !ok || !slices.Contains(checks, v.Check) {
					t.Fatalf("seed %d: %v, want one of %q", seed, err, checks)
				}
				return
			}
			t.Error("no run saw it")
		})
	}
}
