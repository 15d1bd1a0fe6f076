// SPDX-License-Identifier: Apache-2.0

package ack

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/lineage"
)

// owner records what it is told, and that nothing is told after the end.
type owner struct {
	settled, failed, late atomic.Int64
}

func (o *owner) BlockSettled(*Block) { o.settled.Add(1) }

func (o *owner) BlockFailed(*Block) {
	if o.settled.Load() > 0 {
		o.late.Add(1)
	}
	o.failed.Add(1)
}

var errRow = errors.New("row failed")

// Many lanes share, fail, settle and touch one block; each failed row must be reported before the block settles, which it does once.
func TestBlockSettlesOnceAfterAllReports(t *testing.T) {
	// req: R-025 half: the acknowledgement state; that nothing stores it shows in the imports test
	const lanes, rows = 8, 64
	for range 200 {
		o := &owner{}
		b := NewBlock(o, make([]uint64, rows), 0)
		l := lineage.Of(b, rows)
		l.Share(lanes - 1)
		var all sync.WaitGroup
		for lane := range lanes {
			all.Go(func() {
				l.Touch(int64(lane + 1))
				mine := []uint32{uint32(lane), uint32(lane + lanes)}
				l.FailRows(mine, errRow)
				head, tail := l.Split(rows / 2)
				head.Settle()
				if o.settled.Load() != 0 {
					t.Error("settled while a lane still holds rows")
				}
				if lane%2 == 0 {
					tail.Settle()
				} else {
					tail.Fail(errRow)
				}
			})
		}
		all.Wait()
		if o.settled.Load() != 1 || o.late.Load() != 0 || b.Holds() != 0 {
			t.Fatalf("settled %d times, %d late reports, %d holds", o.settled.Load(), o.late.Load(), b.Holds())
		}
		if b.TouchedNS() != lanes {
			t.Fatalf("touched at %d, want the latest sign of life %d", b.TouchedNS(), lanes)
		}
		failed, reports := map[uint32]bool{}, int64(0)
		for f := b.Failures(); f != nil; f = f.Next() {
			reports++
			for i := range f.Members.Len() {
				failed[f.Members.At(i)] = true
			}
			if f.Reason != errRow {
				t.Fatalf("reason %v", f.Reason)
			}
		}
		if want := 2*lanes + rows/2; len(failed) != want || reports != o.failed.Load() || reports != lanes+lanes/2 {
			t.Fatalf("%d failed members in %d reports, want %d in %d", len(failed), reports, want, lanes+lanes/2)
		}
	}
}

// A late reading must not undo a newer one: the delivery would time out although its rows are alive.
func TestTouchNeverGoesBack(t *testing.T) {
	for range 300 {
		b := NewBlock(&owner{}, nil, 0)
		var all sync.WaitGroup
		for lane := range 4 {
			all.Go(func() {
				for i := range 50 {
					mine := int64(4*i + lane)
					b.Touch(mine)
					if now := b.TouchedNS(); now < mine {
						t.Errorf("touched at %d, then read %d", mine, now)
					}
				}
			})
		}
		all.Wait()
	}
	b := NewBlock(&owner{}, nil, 9)
	b.Touch(3)
	if b.TouchedNS() != 9 {
		t.Fatalf("an old reading moved the block to %d", b.TouchedNS())
	}
}

func TestReleaseTooManyIsADefect(t *testing.T) {
	b := NewBlock(&owner{}, nil, 0)
	b.Release()
	defer func() {
		if recover() == nil {
			t.Fatal("a release too many went unnoticed")
		}
	}()
	b.Release()
}
