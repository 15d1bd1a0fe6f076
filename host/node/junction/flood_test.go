// SPDX-License-Identifier: Apache-2.0

package junction_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/node/nodetest"
)

func nameOf(s string) ident.Name { return ident.Name(s) }

// Rows of three branches go through two routes that keep, drop and fail some of them; readers fail batches at random. In the end exactly the rows
// that failed somewhere are failed, every batch has settled, and no batch mixes branches.
func TestFloodSettlesEachRowByItsOwnFate(t *testing.T) {
	text := `CREATE JUNCTION watch FROM readings WHERE n % 11 != 3, more BRANCHED BY by_bed
	  TO alarms SET bed = branch.bed, level = coalesce(input.n, 0) + 0 * (1 / coalesce(input.n % 7, 1)) WHERE input.n % 2 = 0 FLUSH EACH 5ms MAX BATCH SIZE 200B ON MESSAGE ERROR LOG
	  TO copies INHERIT ALL WHERE n % 3 = 0 FLUSH IMMEDIATE ON MESSAGE ERROR IGNORE;`
	for seed := range uint64(40) {
		run(t, 1+int(seed%3), text, func(b *bench) { flood(b, rand.New(rand.NewPCG(seed, 1))) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func flood(b *bench, r *rand.Rand) {
	var mu sync.Mutex
	chance := rand.New(rand.NewPCG(r.Uint64(), 2))
	bad := map[string]bool{} // numbers that a reader failed
	judge := func(column int, share int) func(nodetest.Seen) error {
		return func(s nodetest.Seen) error {
			mu.Lock()
			defer mu.Unlock()
			if chance.IntN(share) > 0 {
				return nil
			}
			for _, row := range s.Rows {
				bad[strings.Split(row, "|")[column]] = true
			}
			return errors.New("lost")
		}
	}
	alarms, copies := b.Reader("alarms"), b.Reader("copies")
	alarms.Judge, copies.Judge = judge(1, 4), judge(2, 6)
	type sent struct {
		fate    *nodetest.Fate
		numbers []int
		relay   string
	}
	var all []sent
	next := 0
	for range 120 {
		s := sent{relay: []string{"readings", "more"}[r.IntN(2)]}
		var rows []string
		bed := string(rune('a' + r.IntN(3)))
		for range 1 + r.IntN(20) {
			next++
			s.numbers = append(s.numbers, next)
			rows = append(rows, fmt.Sprintf("%s|1|%d", bed, next))
		}
		s.fate = b.Publish(nameOf(s.relay), []string{bed}, nil, rows...)
		all = append(all, s)
		switch r.IntN(8) {
		case 0:
			alarms.Stall()
		case 1:
			alarms.Go()
		case 2:
			b.pass(time.Duration(r.IntN(4)) * time.Millisecond)
		case 3:
			b.pass(0)
		}
	}
	alarms.Go()
	b.pass(time.Second)
	for _, s := range all {
		failed := s.fate.Failed()
		if !s.fate.Settled() {
			b.T.Errorf("a batch of %s did not settle", s.relay)
		}
		for i, n := range s.numbers {
			filtered := s.relay == "readings" && n%11 == 3
			want := !filtered && (n%7 == 0 || bad[fmt.Sprint(n)] && (n%2 == 0 || n%3 == 0))
			if _, got := failed[i]; got != want {
				b.T.Errorf("row %d of %s failed: %v, want %v", n, s.relay, got, want)
			}
		}
	}
	for name, rows := range map[string][]nodetest.Seen{"alarms": alarms.Seen(), "copies": copies.Seen()} {
		inBranch(b, name, rows)
	}
	if b.j.Node().Busy() {
		b.T.Error("busy at the end")
	}
}

// inBranch checks that rows stay in their branch.
func inBranch(b *bench, name string, seen []nodetest.Seen) {
	for _, s := range seen {
		for _, row := range s.Rows {
			if want := `{"bed":"` + row[:1] + `"}`; s.Key != want {
				b.T.Errorf("%s: row %s came in branch %s", name, row, s.Key)
			}
		}
	}
}
