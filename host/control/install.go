// SPDX-License-Identifier: Apache-2.0

package control

import (
	"time"

	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/registry"
)

// A failed installation is tried again after a pause that grows to its maximum (G-011).
const (
	installPause    = 50 * time.Millisecond
	installPauseMax = 5 * time.Second
)

// install is the goroutine that owns the Installer: it takes committed revisions in order, each once, and publishes what is installed.
func (c *Control) install() {
	var prev *registry.State
	pause := installPause
	for {
		next, changed := c.states.next()
		if prev != nil && next.Revision <= prev.Revision || next.Revision == 0 {
			select {
			case <-c.ctx.Done():
				return
			case <-changed:
			}
			continue
		}
		if err := c.cfg.Installer.Install(c.ctx, prev, next); err != nil {
			if c.ctx.Err() != nil {
				return
			}
			c.cfg.Logger.Error("a committed revision could not be installed; it is tried again", "revision", uint64(next.Revision), "error", err)
			if osclock.Wait(c.ctx, pause) != nil {
				return
			}
			pause = min(2*pause, installPauseMax)
			continue
		}
		prev, pause = next, installPause
		c.done.set(next)
	}
}
