// SPDX-License-Identifier: Apache-2.0

package timekeeper

import (
	"sync"
	"sync/atomic"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
)

// cell is the shared clock of one domain on this node. Handles and watches keep it, so that reads look nothing up (C-203). The cell of a
// removed domain stays missing for ever; a domain of the same name that is created later has another cell.
type cell struct {
	current atomic.Pointer[installation]
	// utc is nil where UTC is the machine's own.
	utc func() vtime.UTC

	mu struct {
		sync.Mutex
		// revision is the committed revision whose lifecycle the cell holds (C-051).
		revision ident.Revision
		// kept is the newest accepted tick; zero for none (C-068).
		kept clock.Progress
		// stirred is closed at the next change of the installation or of kept; nil while nobody waits for it.
		stirred chan struct{}
		// notices are called on changes of the installation.
		notices map[*notice]struct{}
	}
}

// notice is a callback on changes of an installation.
type notice struct{ call func() }

func newCell(utc func() vtime.UTC) *cell {
	c := &cell{utc: utc}
	c.current.Store(missing())
	return c
}

// now observes UTC.
func (c *cell) now() vtime.UTC {
	if c.utc != nil {
		return c.utc()
	}
	return osclock.UTC()
}

// install replaces the installation by that of a lifecycle committed at a revision, unless the cell holds a newer one. It says whether anything was
// published: an equal lifecycle publishes nothing and wakes nobody (C-079).
func (c *cell) install(l clock.Lifecycle, revision ident.Revision) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if revision < c.mu.revision {
		return false
	}
	c.mu.revision = revision
	in := c.current.Load()
	if in.lifecycle == l {
		return false
	}
	c.publish(in, in.succeed(l))
	return true
}

// remove publishes that the domain is gone, for good (C-082).
func (c *cell) remove(revision ident.Revision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.revision = revision
	c.publish(c.current.Load(), missing())
}

// pause sets the pause flag of the installed generation. Nobody is woken: who waits for domain time goes on waiting (C-073, C-074).
func (c *cell) pause(generation ident.Generation, on bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	in := c.current.Load()
	if !in.lifecycle.Running || in.lifecycle.Generation != generation {
		return false
	}
	if in.paused != on {
		c.current.Store(in.pause(on))
	}
	return true
}

// publish replaces one installation by another: first the pointer, then the progress that ends with it, then the notices, so that whoever is
// woken sees all of it. c.mu is held.
func (c *cell) publish(in, next *installation) {
	c.current.Store(next)
	if next.lifecycle.Generation != in.lifecycle.Generation || !next.lifecycle.Running || next.lifecycle.Created != in.lifecycle.Created {
		c.mu.kept = clock.Progress{}
	}
	close(in.changed)
	c.stir()
	for n := range c.mu.notices {
		n.call()
	}
}

// stir wakes whoever waits for the next publication. c.mu is held.
func (c *cell) stir() {
	if c.mu.stirred != nil {
		close(c.mu.stirred)
		c.mu.stirred = nil
	}
}

// next is closed at the next publication of an installation or of progress.
func (c *cell) next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.stirred == nil {
		c.mu.stirred = make(chan struct{})
	}
	return c.mu.stirred
}

// accept judges a report and keeps it if it is newer (C-066, C-067). Comparing and replacing are one step.
func (c *cell) accept(from ident.Node, p clock.Progress) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := clock.Accepts(c.current.Load().lifecycle, from, p); err != nil {
		return err
	}
	if p.Supersedes(c.mu.kept) {
		c.mu.kept = p
		c.stir()
	}
	return nil
}

// tick is the newest accepted tick of the installed paced generation.
func (c *cell) tick() (clock.Progress, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	in := c.current.Load()
	if in.state != clock.Paced || c.mu.kept.Tick.ID == 0 {
		return clock.Progress{}, false
	}
	return c.mu.kept, true
}

// notify calls f after each change of the installation until stop is called. f runs under the cell's lock: it must be short, must not block and must
// not call the cell. After stop has returned f is not called again.
func (c *cell) notify(f func()) (stop func()) {
	n := &notice{f}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.notices == nil {
		c.mu.notices = make(map[*notice]struct{})
	}
	c.mu.notices[n] = struct{}{}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.mu.notices, n)
	}
}
