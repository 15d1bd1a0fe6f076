// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"time"

	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Upstream is a node's place at a relay it reads; host/relay/owner.Subscription is one.
type Upstream interface {
	// Started tells that work on the batch of the sequence number has begun.
	Started(seq uint64)
	// Resume asks for the refused batch again.
	Resume()
	// Leave ends the subscription; batches not yet taken fail with reason.
	Leave(reason error)
}

// Target is a relay that a route writes to; host/relay/owner.Owner is one.
type Target interface {
	// Publish moves the batch into the relay, or returns false; then the publication waits and its Admitted is called later.
	Publish(p *batch.Publication) bool
}

// Clock is the execution clock handle of a domain's generation.
type Clock interface {
	// Snapshot reads domain time. An error means that the clock is missing, stopped or stale; it is never replaced by wall time.
	Snapshot() (vtime.Snapshot, error)
	// Until is the physical time until domain time reaches the target, at least 1 ns if it lies ahead, 0 or less if it was reached.
	Until(target vtime.Logical) (time.Duration, error)
}
