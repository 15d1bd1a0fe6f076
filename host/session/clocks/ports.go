// SPDX-License-Identifier: Apache-2.0

package clocks

import (
	"context"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Clocks lets sessions observe the domain clocks of this node. The timekeeper provides it; an adapter of a few lines connects the two,
// because its methods return a type of its own.
type Clocks interface {
	// Installed waits until this process has put the committed domains in place once since it started (C-090). It has no bound but ctx,
	// whose cause it returns. After the first time it returns nil at once.
	Installed(ctx context.Context) error
	// Watch begins to observe the clock of a domain. session.domain_unknown or clock.missing say that the node has no such domain (C-091);
	// any other error refuses the attach without that claim. The caller closes what it gets.
	Watch(domain ident.Domain) (ClockWatch, error)
}

// ClockWatch observes one domain. It is lossy and level-triggered: whoever wakes up reads the newest values, and what was replaced in
// between is not told. One goroutine uses it.
//
// The domain is that of the moment of Watch: when it is removed the watch reports it as missing for ever, also when another domain of the
// name is created.
type ClockWatch interface {
	// Changed is closed at the next publication of an installation or of accepted progress after this call; get it before reading, so
	// that nothing between reading and waiting is missed (C-085). Removing the domain publishes missing first and then closes it, so a
	// waiter always wakes (C-205).
	Changed() <-chan struct{}
	// Observed is one whole published installation (C-206), without authority (C-086); false says that the domain is missing.
	Observed() (clock.Observed, bool)
	// Tick is the newest accepted progress; false says that there is none. It may belong to another generation than the next reading of
	// Observed; the reader compares.
	Tick() (clock.Progress, bool)
	// Logical reads the clock of the generation through the same watermarked read that execution uses (C-087). It fails when the
	// generation is not the installed one, or cannot be read.
	Logical(generation ident.Generation) (vtime.Logical, error)
	// Close ends the watch. It may be called twice.
	Close()
}
