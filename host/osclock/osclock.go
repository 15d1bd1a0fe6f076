// SPDX-License-Identifier: Apache-2.0

// Package osclock is the only reader of the operating system's clocks. Everything else receives readings, deadlines and timers from
// here, as values of the time classes of vtime. Under testing/synctest the package follows the fake clock of the bubble, so no
// interface stands between it and its users.
package osclock

import (
	"context"
	"time"

	"github.com/nervix-go/nervix/host/kernel/vtime"
)

var started = time.Now()

// UTC observes actual UTC.
func UTC() vtime.UTC { return vtime.UTCFromNS(time.Now().UnixNano()) }

// Mono reads the monotonic clock since the start of the process.
func Mono() vtime.Mono { return vtime.MonoFromNS(int64(time.Since(started))) }

// Timer is an armed deadline.
type Timer struct{ t *time.Timer }

// AfterFunc runs f on its own goroutine after d of physical time. f must be short and must not block.
func AfterFunc(d time.Duration, f func()) Timer { return Timer{time.AfterFunc(d, f)} }

// Stop disarms the timer; false means that f started already.
func (t Timer) Stop() bool { return t.t != nil && t.t.Stop() }

// Reset arms the timer again.
func (t Timer) Reset(d time.Duration) { t.t.Reset(d) }

// Wait returns after d, or earlier with the cause of ctx. Nothing is armed for a d of zero or less.
func Wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// soonest is the least delay of an alarm. A channel timer that is due when it is armed runs on the goroutine that asks it; two of those in
// one testing/synctest bubble crash the race detector of Go 1.26, whose context a bubble has one of.
const soonest = time.Nanosecond

// Alarm is a channel timer for select loops.
type Alarm struct{ t *time.Timer }

// NewAlarm fires once after d, and not before the caller waits for it.
func NewAlarm(d time.Duration) *Alarm { return &Alarm{time.NewTimer(max(d, soonest))} }

// C delivers when the alarm fires.
func (a *Alarm) C() <-chan time.Time { return a.t.C }

// Reset arms the alarm again.
func (a *Alarm) Reset(d time.Duration) { a.t.Reset(max(d, soonest)) }

// Stop disarms the alarm.
func (a *Alarm) Stop() { a.t.Stop() }

// Every calls f each period until ctx ends; it returns then. The caller owns the goroutine it runs on.
func Every(ctx context.Context, period time.Duration, f func()) {
	t := time.NewTicker(period)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			f()
		}
	}
}

// WithTimeout is context.WithTimeout, kept here because it arms a physical deadline.
func WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}
