// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// WaitForDomainTime waits until domain time of one generation of a followed clock has reached target, and never returns nil before. utc
// observes this host's UTC, whose offset shifts the end (see DomainClock). The clock is read again after each change; one that is uninstalled for a
// while is waited for, and over a lost session the last known mapping goes on. Errors: clock.ErrStopped, clock.ErrStale for another
// generation, ErrClockNotAttached when the clock is no longer followed, clock.ErrRange, clock.ErrUnschedulable, and the cause of ctx.
func (c *Client) WaitForDomainTime(ctx context.Context, domain string, generation ident.Generation, target vtime.Logical, utc func() vtime.UTC) error {
	for {
		now, follows, changed := c.following.watch(domain)
		switch {
		case !follows:
			return failure(ErrClockNotAttached, "the client does not follow the clock of domain "+domain, nil)
		case now.Generation != generation:
			return fault.New(fault.ClockStale, "client.WaitForDomainTime", ident.Ref{Kind: ident.KindDomain, Name: ident.Name(domain)},
				fmt.Sprintf("generation %d is over, the clock is of generation %d", generation, now.Generation), nil)
		}
		wait, err := now.Wait(utc(), target)
		switch {
		case err == nil && wait == 0:
			return nil
		case errors.Is(err, clock.ErrUninstalled):
			wait = time.Duration(1<<63 - 1)
		case err != nil:
			return err
		}
		if err := idle(ctx, wait, changed); err != nil {
			return err
		}
	}
}

// idle returns after d or a change; the error is the cause of ctx.
func idle(ctx context.Context, d time.Duration, changed <-chan struct{}) error {
	due, stop := context.WithTimeout(ctx, d)
	defer stop()
	select {
	case <-changed:
	case <-due.Done():
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// watch is the newest known clock of a domain, and a channel that is closed when there may be a newer one.
func (f *following) watch(domain string) (c DomainClock, follows bool, changed <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one := f.mu.clocks[domain]; one != nil {
		c, follows = one.clock, true
	}
	return c, follows, f.mu.changed
}
