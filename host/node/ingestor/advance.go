// SPDX-License-Identifier: Apache-2.0

package ingestor

import (
	"bytes"
	"errors"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/osclock"
)

var errEnded = errors.New("the ingestor has ended")

// commit is the position on its way to disk: one write at a time, which everything that settles meanwhile joins.
type commit struct {
	position []byte // settled and not yet handed to the store
	count    int
	writing  bool
	failed   bool
	// begun is open while the part that was begun is not durable yet; nil when there is nothing to tell.
	begun chan struct{}
	// stored is the identity that the store has, or will have.
	stored []byte
}

// mark makes durable which part of an endless source is being read, before anything of it has settled: the path may name another file by the time
// somebody asks again.
func (i *Ingestor) mark(anew bool) {
	if i.commit.failed || !anew && bytes.Equal(i.identity, i.commit.stored) {
		return
	}
	if i.commit.begun == nil {
		i.commit.begun = make(chan struct{})
	}
	i.save()
}

// marked says that the mark is durable, or never will be.
func (i *Ingestor) marked() {
	if i.commit.begun != nil {
		close(i.commit.begun)
		i.commit.begun = nil
	}
}

// advance moves the position over the settled prefix and asks for due redeliveries again.
func (i *Ingestor) advance(l *lanes.Lane) {
	if position, count := i.window.Advance(); count > 0 {
		i.commit.position = append(i.commit.position[:0], position...)
		i.commit.count += count
		i.save()
	}
	i.redeliver(l)
	i.observe()
}

// save hands the position to the store unless a write is under way.
func (i *Ingestor) save() {
	if i.commit.writing || i.commit.failed || i.commit.count == 0 && i.commit.begun == nil {
		return
	}
	w := write{epoch: i.epoch, part: i.part, count: i.commit.count, identity: i.identity, position: append([]byte(nil), i.commit.position...)}
	if w.count == 0 {
		w.position = i.position
	}
	i.commit.writing, i.commit.count, i.commit.stored = true, 0, i.identity
	i.config.Positions.Save(w.identity, w.position, func(err error) {
		i.lane.Post(lanes.Func(func(l *lanes.Lane) { i.saved(l, w, err) }))
	})
}

// write is one position on its way to disk, with the number of deliveries it settles.
type write struct {
	epoch, part        uint64
	count              int
	identity, position []byte
}

// saved gives the source its places back: the position survives a crash now.
func (i *Ingestor) saved(l *lanes.Lane, w write, err error) {
	i.commit.writing = false
	if i.closed {
		return
	}
	if err != nil {
		// The store stays failed until restart: nothing is read beyond what it holds, and the reason is shown.
		i.commit.failed = true
		i.marked()
		i.stats.setTransient(err.Error())
		i.config.Log.Error("the position cannot be stored; the ingestor stands still", "ingestor", i.plan.Ref.Name, "domain", i.plan.Ref.Domain, "error", err)
		return
	}
	i.stats.setPosition(w.identity, w.position)
	if i.session != nil && w.count > 0 {
		i.session.Acknowledge(w.epoch, w.position) // also of an epoch that was lost meanwhile: the next one begins after it
	}
	if w.part == i.part {
		i.position = w.position
	}
	if bytes.Equal(w.identity, i.identity) && w.part == i.part {
		i.marked()
	}
	if w.epoch == i.epoch && w.count > 0 {
		i.window.Durable(w.count)
		if i.session != nil {
			i.session.Grant(w.epoch, 0, 0, int64(w.count))
		}
	}
	i.save()
	i.observe()
	i.turn(l)
}

// redeliver asks the source again for deliveries whose backoff is over, and arms the timer for the next ones (P-023).
func (i *Ingestor) redeliver(l *lanes.Lane) {
	now := osclock.Mono()
	if i.session != nil {
		for _, position := range i.window.Due(now) {
			i.session.Reject(i.epoch, position)
		}
	}
	if at, ok := i.window.NextDue(); ok && i.session != nil {
		l.Arm(&i.retry, max(0, at.Sub(now)), lanes.Func(i.redeliver))
	}
}

func (i *Ingestor) clockFailure(err error) error {
	return fault.New(fault.NodeFailed, "ingestor", i.plan.Ref, "the domain clock cannot be read", err)
}
