// SPDX-License-Identifier: Apache-2.0

package ingestor

import (
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
	if i.commit.writing || i.commit.failed || i.commit.count == 0 {
		return
	}
	epoch, count, part := i.epoch, i.commit.count, i.part
	position := append([]byte(nil), i.commit.position...)
	i.commit.writing, i.commit.count = true, 0
	i.config.Positions.Save(i.identity, position, func(err error) {
		i.lane.Post(lanes.Func(func(l *lanes.Lane) { i.saved(l, epoch, part, position, count, err) }))
	})
}

// saved gives the source its places back: the position survives a crash now.
func (i *Ingestor) saved(l *lanes.Lane, epoch, part uint64, position []byte, count int, err error) {
	i.commit.writing = false
	if i.closed {
		return
	}
	if err != nil {
		// The store stays failed until restart: nothing is read beyond what it holds, and the reason is shown.
		i.commit.failed = true
		i.stats.setTransient(err.Error())
		i.config.Log.Error("the position cannot be stored; the ingestor stands still", "ingestor", i.plan.Ref.Name, "domain", i.plan.Ref.Domain, "error", err)
		return
	}
	i.stats.setPosition(i.identity, position)
	if i.session != nil {
		i.session.Acknowledge(epoch, position) // also of an epoch that was lost meanwhile: the next one begins after it
	}
	if part == i.part {
		i.position = position
	}
	if epoch == i.epoch {
		i.window.Durable(count)
		if i.session != nil {
			i.session.Grant(epoch, 0, 0, int64(count))
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
