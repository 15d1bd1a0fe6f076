// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"context"
	"slices"

	"github.com/nervix-go/nervix/host/lanes"
)

// Touch reports every input that a branch has as alive: in its guest, held back for a checkpoint, or waiting for its callback (W-190). The engine calls
// it on a physical interval, as it does for every node.
func (p *Processor) Touch(monoNS int64) {
	p.node.Touch(monoNS)
	for i, kit := range p.kits {
		if kit.holding.Load() == 0 {
			continue
		}
		p.config.Lanes.At(i).Post(lanes.Func(func(*lanes.Lane) {
			for _, s := range kit.listed {
				s.touch(monoNS)
			}
		}))
	}
}

func (s *state) touch(monoNS int64) {
	for _, in := range s.inputs {
		in.lin.Touch(monoNS)
	}
	for _, in := range s.done {
		in.lin.Touch(monoNS)
	}
	for _, b := range s.queue {
		b.Lineage.Touch(monoNS)
	}
	if s.fresh != nil {
		s.fresh.Lineage.Touch(monoNS)
	}
	for _, x := range s.senders {
		if x != nil {
			x.touch(monoNS)
		}
	}
}

// Busy says whether the processor works: a batch waits or is worked, a callback or a checkpoint is on its way, a publication waits. What guests hold
// is no work; Quiesce asks them for it. Counts are raised before the work moves on, so a false answer is never too early.
func (p *Processor) Busy() bool { return p.node.Busy() || p.active.Load() > 0 }

// Quiesce asks every guest that got input since it was last asked to flush (W-239) and says whether there was one. It does not wait: Busy is
// true until the flushes, their checkpoints and their output are through. A guest that keeps input nevertheless is not asked again before it
// gets more (W-241).
func (p *Processor) Quiesce() (asked bool) {
	if p.unflushed.Load() == 0 {
		return false
	}
	p.active.Add(int64(len(p.kits)))
	for i, kit := range p.kits {
		p.config.Lanes.At(i).Post(lanes.Func(func(l *lanes.Lane) {
			for _, s := range kit.all {
				if s.dirty && !s.closed {
					s.flush = true
					s.turn(l)
				}
			}
			p.active.Add(-1)
		}))
	}
	return true
}

// Recheck looks at all deadlines again: the domain clock was installed anew, paused or resumed.
func (p *Processor) Recheck() {
	for i, kit := range p.kits {
		p.config.Lanes.At(i).Post(lanes.Func(func(l *lanes.Lane) {
			for _, s := range slices.Clone(kit.all) {
				if len(s.timeouts.heap) > 0 {
					(*alarm)(s).Run(l)
				}
			}
		}))
	}
}

// End ends every branch and fails what they hold; a guest in a call ends when the call returns. The node must be closed and abandoned before. It waits
// until nothing of the processor is left, then the module is released, or until ctx ends; the rest happens then by itself.
func (p *Processor) End(ctx context.Context, reason error) error {
	p.mu.Lock()
	if p.mu.ending != nil {
		over := p.mu.over
		p.mu.Unlock()
		return wait(ctx, over)
	}
	p.mu.ending = reason
	p.mu.over = make(chan struct{})
	p.mu.left += len(p.kits)
	over := p.mu.over
	p.mu.Unlock()
	for i, kit := range p.kits {
		p.config.Lanes.At(i).Post(lanes.Func(func(l *lanes.Lane) {
			for _, s := range slices.Clone(kit.all) {
				s.end(l, reason)
			}
			p.leave()
		}))
	}
	return wait(ctx, over)
}

func wait(ctx context.Context, over <-chan struct{}) error {
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// leave counts a branch, or a lane, that has ended.
func (p *Processor) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.left--
	if p.mu.left > 0 || p.mu.ending == nil {
		return
	}
	if m := p.module.Swap(nil); m != nil {
		m.Release()
	}
	close(p.mu.over)
}
