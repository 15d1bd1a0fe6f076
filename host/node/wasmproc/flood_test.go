// SPDX-License-Identifier: Apache-2.0

package wasmproc_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/node/nodetest"
	"github.com/nervix-go/nervix/host/node/wasmproc"
)

// Rows of several branches go through guests that pass, drop, repeat, join, buffer, refuse and fail them, trap, emit rubbish and cannot save; checkpoints fail
// and come late; readers fail batches and stall. In the end exactly the rows that failed somewhere are failed, every batch has settled, no batch
// mixes branches, the counts are right, and nothing is left.
func TestFloodSettlesEachRowByItsOwnFate(t *testing.T) {
	// req: A04, A05, A11, A12, W-103, W-185, W-205
	for seed := range uint64(24) {
		f := &flood{seed: seed, ignore: seed%3 == 0, failed: map[string]bool{}, stakes: map[int][]string{}}
		policy := logs
		if f.ignore {
			policy = quiet
		}
		run(t, 1+int(seed%3), watch+policy, f.script(), func(b *bench) { f.run(b) }, func(c *wasmproc.Config, b *bench) {
			c.Checkpoints = &floodStore{Checkpoints: b.store, f: f}
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

type flood struct {
	seed   uint64
	ignore bool
	calm   bool // the end: nothing fails any more

	mu     sync.Mutex
	failed map[string]bool
	stakes map[int][]string // by guest: what its last callback decided, and what it keeps
	given  int
	done   sync.WaitGroup
}

func (f *flood) fail(names ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range names {
		f.failed[n] = true
	}
}

func (f *flood) stake(g *guest, decided []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stakes[g.number] = append(slices.Clone(decided), names(g.kept)...)
}

func names(kept []keptRow) (out []string) {
	for _, k := range kept {
		out = append(out, k.text)
	}
	return out
}

// chance is a guest's own.
func (f *flood) chance(g *guest, one int) bool {
	f.mu.Lock()
	calm := f.calm
	f.mu.Unlock()
	return !calm && f.dice(g).IntN(one) == 0
}

var dices sync.Map

func (f *flood) dice(g *guest) *rand.Rand {
	r, _ := dices.LoadOrStore(g, rand.New(rand.NewPCG(f.seed, uint64(g.number))))
	return r.(*rand.Rand)
}

func (f *flood) script() script {
	return script{
		batch: func(g *guest, in *given) int32 { return f.batch(g, in) },
		timeout: func(g *guest, handle int64) int32 {
			if f.chance(g, 12) {
				f.fail(names(g.kept)...)
				g.trap("unreachable executed")
			}
			if f.chance(g, 12) {
				f.stake(g, nil)
				return -2
			}
			return f.empty(g)
		},
		flush: func(g *guest) int32 {
			if f.dice(g).IntN(4) == 0 {
				return 0 // keeps what it has
			}
			return f.empty(g)
		},
		dump: func(g *guest) ([]byte, int32) {
			if f.chance(g, 15) {
				f.mu.Lock()
				stake := f.stakes[g.number]
				f.mu.Unlock()
				f.fail(stake...)
				return nil, -1
			}
			return []byte(strconv.Itoa(g.number)), 0
		},
	}
}

// empty emits what the guest keeps: joined into one row, each row by itself, or in another order.
func (f *flood) empty(g *guest) int32 {
	kept := g.kept
	g.kept = nil
	f.stake(g, names(kept))
	if len(kept) == 0 {
		return 0
	}
	tokens := make([]uint64, len(kept))
	for i, k := range kept {
		tokens[i] = k.token
	}
	switch f.dice(g).IntN(3) {
	case 0:
		joined := strings.Join(names(kept), "+")
		g.emit(envelope().generated([]string{joined}, []int64{1}).to("alarms", "gen0", "gen1").row(0, tokens...).message())
	case 1:
		g.emit(copied(envelope()).rows(tokens...).message())
	default:
		slices.Reverse(tokens)
		g.emit(copied(envelope()).rows(tokens...).message())
	}
	return 0
}

func (f *flood) batch(g *guest, in *given) int32 {
	if f.chance(g, 12) {
		time.Sleep(time.Duration(f.dice(g).IntN(4)) * time.Millisecond) // the lane goes on
	}
	var rows []string
	for i := range in.tokens {
		rows = append(rows, in.text(0, i))
	}
	f.mu.Lock()
	f.given += len(rows)
	f.mu.Unlock()
	switch {
	case f.chance(g, 25):
		f.fail(names(g.kept)...)
		if !f.ignore {
			f.fail(rows...)
		}
		g.trap("unreachable executed")
	case f.chance(g, 25):
		if !f.ignore {
			f.fail(rows...)
		}
		f.stake(g, rows)
		return -3
	case f.chance(g, 25):
		f.stake(g, append(rows, names(g.kept)...))
		if !f.ignore {
			f.fail(append(rows, names(g.kept)...)...)
		}
		g.kept = nil
		g.emit(copied(envelope()).rows(in.tokens...).message())
		g.emit([]byte("rubbish"))
		return 0
	}
	f.decide(g, in, rows)
	return 0
}

// decide does something with each row.
func (f *flood) decide(g *guest, in *given, rows []string) {
	o := envelope()
	copies := copied(o)
	var decided []string
	r := f.dice(g)
	before := len(g.kept)
	for i, t := range in.tokens {
		if r.IntN(4) == 0 {
			g.kept = append(g.kept, keptRow{t, rows[i]})
			continue
		}
		decided = append(decided, rows[i])
		switch r.IntN(7) {
		case 0:
			copies.acked(t)
		case 1:
			f.fail(rows[i])
			copies.nacked("no", t)
		case 2:
			f.fail(rows[i])
			copies.failed("no", t)
		case 3:
			copies.rows(t, t)
		default:
			copies.rows(t)
		}
	}
	if before > 3 { // an earlier row comes along
		decided = append(decided, g.kept[0].text)
		copies.rows(g.kept[0].token)
		g.kept = slices.Delete(g.kept, 0, 1)
	}
	g.emit(o.message())
	if len(g.kept) > 0 && r.IntN(2) == 0 {
		g.after(int64(r.IntN(20)) * int64(time.Millisecond))
	}
	f.stake(g, decided)
}

// floodStore fails and delays checkpoints.
type floodStore struct {
	wasmproc.Checkpoints
	f *flood
}

func (s *floodStore) Open(p wasmproc.Place) wasmproc.Slot {
	return &floodSlot{Slot: s.Checkpoints.Open(p), f: s.f, r: rand.New(rand.NewPCG(s.f.seed, uint64(p.Branch[0])))}
}

type floodSlot struct {
	wasmproc.Slot
	f     *flood
	r     *rand.Rand
	guest int
}

func (s *floodSlot) Capture(state []byte) uint64 {
	s.guest, _ = strconv.Atoi(string(state))
	return s.Slot.Capture(state)
}

func (s *floodSlot) Persist(done func(error)) (bool, error) {
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	var err error
	if !s.f.calm && s.r.IntN(15) == 0 {
		err = errors.New("the disk is away")
		for _, name := range s.f.stakes[s.guest] {
			s.f.failed[name] = true
		}
	}
	if s.r.IntN(3) > 0 {
		return false, err
	}
	late := time.Duration(s.r.IntN(5)) * time.Millisecond
	s.f.done.Go(func() {
		time.Sleep(late)
		done(err)
	})
	return true, nil
}

func (f *flood) run(b *bench) {
	r := rand.New(rand.NewPCG(f.seed, 99))
	chance := rand.New(rand.NewPCG(f.seed, 100))
	judge := func(s nodetest.Seen) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		if chance.IntN(8) > 0 {
			return nil
		}
		for _, row := range s.Rows {
			for _, name := range strings.Split(strings.Split(row, "|")[0], "+") {
				f.failed[name] = true
			}
		}
		return errLost
	}
	copies, alarms := b.Reader("copies"), b.Reader("alarms")
	copies.Judge, alarms.Judge = judge, judge
	type sent struct {
		fate  *nodetest.Fate
		names []string
	}
	var all []sent
	next := 0
	for range 100 {
		var s sent
		var rows []string
		bed := string(rune('a' + r.IntN(4)))
		for range 1 + r.IntN(12) {
			next++
			s.names = append(s.names, fmt.Sprintf("%s%d", bed, next))
			rows = append(rows, s.names[len(s.names)-1]+"|1|1")
		}
		s.fate = b.Publish("readings", []string{bed}, nil, rows...)
		all = append(all, s)
		switch r.IntN(10) {
		case 0:
			copies.Stall()
		case 1, 2:
			copies.Go()
		case 3, 4, 5:
			b.pass(time.Duration(r.IntN(6)) * time.Millisecond)
		default:
			b.pass(0)
		}
	}
	copies.Go()
	b.pass(time.Second)
	f.mu.Lock()
	f.calm = true
	f.mu.Unlock()
	if !b.drain() {
		b.T.Error("no end of the drain")
	}
	f.done.Wait()
	for _, g := range b.fakes.all() {
		if !g.closed && !g.gone {
			f.fail(names(g.kept)...) // what the flush left behind
		}
	}
	o := b.p.Observe()
	b.stop()
	for _, s := range all {
		failed := s.fate.Failed()
		if !s.fate.Settled() {
			b.T.Errorf("the batch of %v did not settle", s.names)
		}
		for i, name := range s.names {
			if _, got := failed[i]; got != f.failed[name] {
				b.T.Errorf("row %s failed: %v (%s), want %v", name, got, failed[i], f.failed[name])
			}
		}
	}
	seen := map[string]int{}
	for name, rows := range map[string][]nodetest.Seen{"copies": copies.Seen(), "alarms": alarms.Seen()} {
		for _, s := range rows {
			for _, row := range s.Rows {
				seen[name]++
				if want := `{"bed":"` + row[:1] + `"}`; s.Key != want {
					b.T.Errorf("%s: row %s came in branch %s", name, row, s.Key)
				}
			}
		}
	}
	if int(o.Sent[0].Rows) != seen["copies"] || int(o.Sent[1].Rows) != seen["alarms"] || int(o.Rows.Given) != f.given || f.given != next {
		b.T.Errorf("sent %+v, given %+v; seen %v, given %d of %d", o.Sent, o.Rows, seen, f.given, next)
	}
	if b.p.Busy() {
		b.T.Error("busy at the end")
	}
}
