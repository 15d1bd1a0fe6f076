// SPDX-License-Identifier: Apache-2.0

package osclock

import (
	"context"
	"time"

	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Deadline is a physical deadline: an instant of the monotonic clock of this process that nobody else can read (C-137). TIME RATE, STOP and steps of
// UTC do not touch it.
type Deadline struct{ at vtime.Mono }

// After is the deadline that comes after d of physical time.
func After(d time.Duration) Deadline { return Deadline{Mono().Add(d)} }

// Left is the physical time until the deadline, zero or less once it has come.
func (d Deadline) Left() time.Duration { return d.at.Sub(Mono()) }

// WaitUntil returns at the deadline, or earlier with the cause of ctx.
func WaitUntil(ctx context.Context, d Deadline) error { return Wait(ctx, d.Left()) }
