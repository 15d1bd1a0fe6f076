// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/kernel/lineage"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/lanes"
)

// holder counts how often it is parked.
type holder struct{ parked int }

func (h *holder) Park()              { h.parked++ }
func (h *holder) Unpark(*lanes.Lane) { h.parked-- }

// stand is an outlet on a lane of its own, in a bubble of fake time.
type stand struct {
	t      *testing.T
	exec   *lanes.Executor
	lane   *lanes.Lane
	alloc  *memory.CheckedAllocator
	target *target
	clock  *clock
	holder *holder
	alive  *Alive
	outlet *Outlet
}

func inStand(t *testing.T, flush Flush, rate float64, f func(s *stand)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stand{t: t, exec: lanes.New(1), target: &target{room: 1 << 30}, clock: newClock(rate), holder: &holder{}, alive: &Alive{}}
		s.alloc = memory.NewCheckedAllocator(memory.NewGoAllocator())
		s.lane = s.exec.At(0)
		route := &Route{Target: s.target, Schema: numbers, Flush: flush, Clock: s.clock, Alloc: s.alloc}
		s.outlet = NewOutlet(route, key(1), s.lane, s.holder, s.alive)
		f(s)
		end(t, s.exec)
		s.target.take()
		s.alloc.AssertSize(t, 0)
	})
}

// add buffers rows rows holding n.
func (s *stand) add(n int64, rows int) *tally {
	lin, block := tracked(rows)
	on(s.lane, func(l *lanes.Lane) { s.outlet.Add(l, piece(s.alloc, n, rows), lin, s.clock.now()) })
	return block
}

// look reads the outlet's state on its lane.
func (s *stand) look() (empty bool, parked int) {
	on(s.lane, func(*lanes.Lane) { empty, parked = s.outlet.Empty(), s.holder.parked })
	return empty, parked
}

// want compares what was published so far.
func (s *stand) want(batches ...[]int64) {
	s.t.Helper()
	synctest.Wait()
	if got := s.target.take(); fmt.Sprint(got) != fmt.Sprint(batches) {
		s.t.Fatalf("published %v, want %v", got, batches)
	}
}

var wide = Flush{Each: 10 * time.Millisecond, MaxBytes: 1 << 30}

func TestFlushAtTheDeadlineOfTheFirstRow(t *testing.T) {
	// req: R-026 half: the outlet makes one batch of a burst; ingestors and reingestors stand on it
	// req: R-027 half: single-row batches of a branch leave as one
	inStand(t, wide, 1, func(s *stand) {
		s.add(1, 1)
		time.Sleep(6 * time.Millisecond)
		s.add(2, 1) // does not move the deadline
		time.Sleep(4*time.Millisecond - 1)
		s.want()
		time.Sleep(1 * time.Nanosecond)
		s.want([]int64{1, 2})
		time.Sleep(time.Second)
		s.want() // nothing is armed when nothing is buffered
		s.add(3, 1)
		time.Sleep(10 * time.Millisecond)
		s.want([]int64{3})
		if sent := s.outlet.route.Sent.Passed(); sent.Rows != 3 || sent.Batches != 2 || s.alive.Len() != 0 {
			s.t.Fatalf("counted %+v, %d outlets alive", sent, s.alive.Len())
		}
	})
}

// The deadline is domain time: a timer only guesses at it, and must guess neither early nor late, whatever the rate.
func TestDeadlineIsDomainTime(t *testing.T) {
	// req: R-048 half: deadlines of routes; TTL reads the same clock
	for rate, physical := range map[float64]time.Duration{0.5: 20 * time.Millisecond, 1: 10 * time.Millisecond, 10: time.Millisecond} {
		inStand(t, wide, rate, func(s *stand) {
			s.add(1, 1)
			time.Sleep(physical - 10)
			s.want()
			time.Sleep(20 * time.Nanosecond)
			s.want([]int64{1})
		})
	}
}

// Work may add its rows some time after the snapshot it was given.
func TestDeadlineCountsFromTheSnapshot(t *testing.T) {
	inStand(t, wide, 1, func(s *stand) {
		snapshot := s.clock.now()
		time.Sleep(4 * time.Millisecond)
		on(s.lane, func(l *lanes.Lane) { s.outlet.Add(l, piece(s.alloc, 1, 1), lineage.Lineage{}, snapshot) })
		time.Sleep(6 * time.Millisecond)
		s.want([]int64{1})
	})
}

func TestUnreadableClockPutsTheFlushOff(t *testing.T) {
	inStand(t, wide, 1, func(s *stand) {
		s.add(1, 1)
		s.clock.breakIt(true)
		time.Sleep(time.Second)
		s.want() // never replaced by wall time
		s.clock.breakIt(false)
		time.Sleep(clockRetry)
		s.want([]int64{1})
		s.clock.breakIt(true)
		s.add(2, 1)
		s.clock.breakIt(false)
		time.Sleep(clockRetry)
		s.want([]int64{2})
	})
}

func TestFlushAtTheSize(t *testing.T) {
	inStand(t, Flush{Each: time.Hour, MaxBytes: 8 * 10}, 1, func(s *stand) {
		s.add(1, 9)
		s.want()
		s.add(2, 1)
		s.want([]int64{1, 1, 1, 1, 1, 1, 1, 1, 1, 2})
		s.add(3, 11) // one piece beyond the size is not cut
		s.want(slices.Repeat([]int64{3}, 11))
		s.add(4, 1) // bytes count from zero again
		s.want()
		on(s.lane, func(l *lanes.Lane) { s.outlet.Flush(l) })
		s.want([]int64{4})
		time.Sleep(2 * time.Hour)
		s.want() // the deadline of the flushed rows is gone
	})
}

func TestImmediateIsAPhysicalWindow(t *testing.T) {
	inStand(t, Flush{Immediate: true, MaxBytes: 1}, 10, func(s *stand) {
		s.add(1, 5)
		s.add(2, 5) // no size bound
		time.Sleep(ImmediateWindow - 1)
		s.want()
		time.Sleep(1 * time.Nanosecond)
		s.want([]int64{1, 1, 1, 1, 1, 2, 2, 2, 2, 2})
	})
}

func TestFullTargetParksTheHolder(t *testing.T) {
	// req: R-037 half: the dispatch that waits is the producer's own batch, and the producer stands still
	inStand(t, Flush{Each: time.Millisecond, MaxBytes: 8 * 2}, 1, func(s *stand) {
		s.target.room = 0
		first := s.add(1, 2) // flushes by size, and waits
		if empty, parked := s.look(); parked != 1 || empty || s.alive.Len() != 1 {
			s.t.Fatalf("parked %d, empty %v, alive %d", parked, empty, s.alive.Len())
		}
		second := s.add(2, 1) // rows under way when the holder was parked
		third := s.add(3, 1)  // the size again
		time.Sleep(time.Second)
		if got, waiting := s.target.counts(); got != 0 || waiting != 1 {
			s.t.Fatalf("%d published, %d waiting: one publication an outlet", got, waiting)
		}
		s.target.admit(1)
		synctest.Wait()
		_, parked := s.look()
		if got, waiting := s.target.counts(); got != 1 || waiting != 1 || parked != 1 {
			s.t.Fatalf("%d published, %d waiting, parked %d: the second flush must follow at once", got, waiting, parked)
		}
		s.add(4, 1) // neither size nor deadline yet
		s.target.admit(1)
		s.want([]int64{1, 1}, []int64{2, 3})
		if _, waiting := s.target.counts(); waiting != 0 {
			s.t.Fatal("a flush that was put off came twice")
		}
		s.target.admit(1)
		time.Sleep(time.Millisecond)
		s.want([]int64{4})
		if empty, parked := s.look(); parked != 0 || !empty || s.alive.Len() != 0 {
			s.t.Fatalf("parked %d, empty %v, alive %d", parked, empty, s.alive.Len())
		}
		for i, b := range []*tally{first, second, third} {
			if b.ended != 1 || b.failed != 0 {
				s.t.Fatalf("block %d: ended %d, failed %d", i, b.ended, b.failed)
			}
		}
	})
}

// Rows that came while a publication waits keep their own deadline.
func TestRowsBehindAWaitingPublication(t *testing.T) {
	inStand(t, wide, 1, func(s *stand) {
		s.target.room = 0
		s.add(1, 1)
		time.Sleep(10 * time.Millisecond)
		s.add(2, 1)
		s.target.admit(1)
		s.want([]int64{1})
		if empty, _ := s.look(); empty || s.alive.Len() != 1 {
			s.t.Fatal("the buffered row was forgotten")
		}
		s.target.admit(1)
		time.Sleep(10*time.Millisecond - 1)
		s.want()
		time.Sleep(1 * time.Nanosecond)
		s.want([]int64{2})
	})
}

// A filter may leave no row. Such a piece must neither stay in the buffer nor keep anything upstream waiting.
func TestPieceWithoutRows(t *testing.T) {
	inStand(t, wide, 1, func(s *stand) {
		lin, block := tracked(0)
		on(s.lane, func(l *lanes.Lane) { s.outlet.Add(l, piece(s.alloc, 0, 0), lin, s.clock.now()) })
		if empty, _ := s.look(); block.ended != 1 || !empty || s.alive.Len() != 0 {
			s.t.Fatalf("ended %d, empty %v, alive %d", block.ended, empty, s.alive.Len())
		}
		time.Sleep(5 * time.Millisecond)
		b := s.add(1, 1) // its deadline is its own
		time.Sleep(5 * time.Millisecond)
		s.want()
		time.Sleep(5 * time.Millisecond)
		s.want([]int64{1})
		if b.ended != 1 {
			s.t.Fatalf("ended %d", b.ended)
		}
	})
}

func TestDropFailsRows(t *testing.T) {
	inStand(t, wide, 1, func(s *stand) {
		s.target.room = 0
		waits := s.add(1, 2)
		time.Sleep(10 * time.Millisecond)
		a, b := s.add(2, 3), s.add(3, 1)
		on(s.lane, func(l *lanes.Lane) {
			s.outlet.Drop(l, errGone, nil)
			s.outlet.Drop(l, errGone, nil)
		})
		for i, block := range []*tally{a, b} {
			if block.ended != 1 || block.failed != []int{3, 1}[i] {
				s.t.Fatalf("block %d: ended %d, failed %d", i, block.ended, block.failed)
			}
		}
		if empty, _ := s.look(); waits.ended != 0 || waits.failed != 0 || empty {
			s.t.Fatal("what already waits at the relay is the relay's to end")
		}
		s.target.admit(1)
		time.Sleep(time.Second)
		s.want([]int64{1, 1})
		if empty, parked := s.look(); !empty || s.alive.Len() != 0 || parked != 0 {
			s.t.Fatalf("empty %v, alive %d, parked %d", empty, s.alive.Len(), parked)
		}
	})
}

func TestIngestOutletTracksAtTheFlush(t *testing.T) {
	inStand(t, wide, 1, func(s *stand) {
		var flushed, dropped []uint64
		s.outlet.route.Track = func(deliveries []uint64) lineage.Lineage {
			flushed = append(flushed, deliveries...)
			return lineage.Of(&tally{holds: 1}, len(deliveries))
		}
		mine := []uint64{7, 8}
		add := func(n int64, deliveries []uint64) {
			on(s.lane, func(l *lanes.Lane) {
				s.outlet.AddDeliveries(l, piece(s.alloc, n, len(deliveries)), deliveries, s.clock.now())
			})
		}
		add(1, mine)
		mine[0] = 0 // the slice was copied
		add(2, []uint64{9})
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		if got, _ := s.target.counts(); got != 1 || s.target.got[0].Lineage.Runs()[0].Members.Len() != 3 {
			s.t.Fatalf("%d batches", got)
		}
		s.want([]int64{1, 1, 2})
		add(3, []uint64{10})
		on(s.lane, func(l *lanes.Lane) {
			s.outlet.Drop(l, errGone, func(d []uint64) { dropped = append(dropped, d...) })
		})
		if !slices.Equal(flushed, []uint64{7, 8, 9}) || !slices.Equal(dropped, []uint64{10}) {
			s.t.Fatalf("tracked %v, dropped %v", flushed, dropped)
		}
	})
}

func TestFlushedBatchCarriesKeyLineageAndMarks(t *testing.T) {
	// req: R-028 half: an outlet belongs to one branch
	inStand(t, wide, 1, func(s *stand) {
		lin, block := tracked(4)
		p := piece(s.alloc, 5, 4)
		p.Low, p.High = []int64{1, 2, 3, 4}, []int64{5, 6, 7, 8}
		p.Rows = []uint32{1, 3}
		on(s.lane, func(l *lanes.Lane) {
			s.outlet.Add(l, p, lin.Select(p.Rows), s.clock.now())
			s.outlet.Flush(l)
		})
		b := s.target.got[0]
		if b.Key != s.outlet.key || !slices.Equal(b.Low, []int64{2, 4}) || !slices.Equal(b.High, []int64{6, 8}) {
			s.t.Fatalf("key %v, marks %v %v", b.Key, b.Low, b.High)
		}
		b.Lineage.FailRows([]uint32{1}, errGone)
		if block.failed != 1 || block.ended != 0 {
			s.t.Fatalf("failed %d, ended %d", block.failed, block.ended)
		}
	})
}

func TestDeadlineBeyondTheRange(t *testing.T) {
	inStand(t, wide, 1, func(s *stand) {
		on(s.lane, func(l *lanes.Lane) {
			s.outlet.Add(l, piece(s.alloc, 1, 1), lineage.Lineage{}, vtime.LogicalFromNS(1<<63-1))
		})
		time.Sleep(time.Minute)
		s.want()
		on(s.lane, func(l *lanes.Lane) { s.outlet.Drop(l, errGone, nil) })
	})
}

var _ Target = (*target)(nil)
