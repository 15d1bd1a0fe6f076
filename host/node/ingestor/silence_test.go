// SPDX-License-Identifier: Apache-2.0

package ingestor_test

import (
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/node/ingestor"
)

// What waits is reported alive every 100 ms. A shorter ACK TIMEOUT would fail each delivery that waits at all, again and again, and its rows would go
// out each time.
func TestAckTimeoutBelowTheReportsOfLife(t *testing.T) {
	run(t, source("ACK PARALLEL MAX 100 ACK TIMEOUT 20ms", toReadings+ignore+general), goods(4), func(b *bench) {
		r := b.Reader("readings")
		r.Stall()
		b.start()
		b.pass(time.Minute)
		b.want(0, 4, ingestor.Running)
		r.Go()
		b.pass(0)
		b.want(4, 0, ingestor.Running)
		if len(b.src.Rejects()) != 0 {
			b.T.Fatalf("asked again %d times", len(b.src.Rejects()))
		}
	})
}
