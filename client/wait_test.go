// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/wire"
)

// TestWaitingForDomainTime runs waits against a clock of rate 60 in virtual time.
func TestWaitingForDomainTime(t *testing.T) {
	// req: X-195
	minute := func(n int64) vtime.Logical { return vtime.LogicalFromNS(n * int64(time.Minute)) }
	world := func(t *testing.T, f func(c *Client, s *desk, mapped func(generation uint64) wire.ObservedClock)) {
		synctest.Test(t, func(t *testing.T) {
			begin := osclock.UTC()
			mapped := func(generation uint64) wire.ObservedClock {
				return wire.ObservedClock{State: wire.ClockPaced, Generation: generation, PeriodNS: 1, WallStartedAtNS: begin.NS(), TimeRate: 60}
			}
			c := &Client{following: newFollowing()}
			s := newDesk(c.following, "one")
			s.answer = func(*desk, wire.ClientBody) wire.ServerBody {
				return wire.DomainClockAttachOutcome{Disposition: wire.ClockAttached, Domain: "d", Clock: mapped(1)}
			}
			if failed := attach(c.following, s, "d"); failed != nil {
				t.Fatal(failed)
			}
			f(c, s, mapped)
		})
	}
	wait := func(ctx context.Context, c *Client, generation ident.Generation, target vtime.Logical) chan error {
		done := make(chan error, 1)
		go func() { done <- c.WaitForDomainTime(ctx, "d", generation, target, osclock.UTC) }()
		return done
	}
	t.Run("reached", func(t *testing.T) {
		world(t, func(c *Client, _ *desk, _ func(uint64) wire.ObservedClock) {
			begin := osclock.Mono()
			if err := <-wait(context.Background(), c, 1, minute(5)); err != nil {
				t.Error(err)
			}
			if took := osclock.Mono().Sub(begin); took != 5*time.Second {
				t.Errorf("five minutes at rate 60 took %v", took)
			}
			if err := <-wait(context.Background(), c, 1, minute(5)); err != nil {
				t.Errorf("due already: %v", err)
			}
		})
	})
	t.Run("ticks and a lost session do not end it", func(t *testing.T) {
		world(t, func(c *Client, s *desk, _ func(uint64) wire.ObservedClock) {
			done := wait(context.Background(), c, 1, minute(5))
			for id := range uint64(4) {
				_ = osclock.Wait(context.Background(), time.Second)
				c.following.heard(s, wire.DomainClockTicked{Domain: "d", Generation: 1, ID: id + 1})
			}
			s.lose()
			synctest.Wait()
			if len(done) != 0 {
				t.Error("it ended early")
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	})
	for name, c := range map[string]struct {
		change func(c *Client, s *desk, mapped func(uint64) wire.ObservedClock)
		want   error
	}{
		"STOP": {func(c *Client, s *desk, _ func(uint64) wire.ObservedClock) {
			c.following.heard(s, wire.DomainClockObserved{Domain: "d", Clock: wire.ObservedClock{State: wire.ClockStopped, Generation: 1}})
		}, clock.ErrStopped},
		"a new generation": {func(c *Client, s *desk, mapped func(uint64) wire.ObservedClock) {
			c.following.heard(s, wire.DomainClockObserved{Domain: "d", Clock: mapped(2)})
		}, clock.ErrStale},
		"the removal": {func(c *Client, s *desk, _ func(uint64) wire.ObservedClock) {
			c.following.heard(s, wire.DomainClockAttachmentEnded{Domain: "d", Reason: wire.EndDomainRemoved})
		}, ErrClockNotAttached},
		"an authority that is lost for a while": {func(c *Client, s *desk, mapped func(uint64) wire.ObservedClock) {
			c.following.heard(s, wire.DomainClockObserved{Domain: "d", Clock: wire.ObservedClock{State: wire.ClockUninstalled, Generation: 1}})
			_ = osclock.Wait(context.Background(), time.Hour)
			c.following.heard(s, wire.DomainClockObserved{Domain: "d", Clock: mapped(1)})
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			world(t, func(client *Client, s *desk, mapped func(uint64) wire.ObservedClock) {
				done := wait(context.Background(), client, 1, minute(5))
				_ = osclock.Wait(context.Background(), time.Second)
				c.change(client, s, mapped)
				if err := <-done; !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
			})
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		world(t, func(c *Client, _ *desk, _ func(uint64) wire.ObservedClock) {
			ctx, cancel := context.WithCancel(context.Background())
			done := wait(ctx, c, 1, minute(5))
			synctest.Wait()
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	})
}
