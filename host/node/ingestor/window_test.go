// SPDX-License-Identifier: Apache-2.0

package ingestor_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/node/ingestor"
)

// While failed rows keep the window full, nothing further is read, and what an ingestor tells of itself says so: how many wait, of how many, and why.
func TestFullWindowOfFailedRowsIsTold(t *testing.T) {
	bad := `{"bed":"` + secret + `"}`
	lines := []string{good(1), bad, good(3), bad, good(5), good(6)}
	run(t, source("ACK PARALLEL MAX 3 ACK TIMEOUT 5s", toReadings+log+general), lines, func(b *bench) {
		b.Reader("readings")
		b.start()
		b.when(301 * time.Millisecond) // three attempts at line 2 failed
		b.want(1, 2, ingestor.Blocked)
		o := b.in.Observe()
		for _, part := range []string{"window is full", "of the 3 rows it takes 2 wait", "and 1 that succeeded stand behind", "failed 3 times: ", "line 2, offset 20: ", "PARALLEL MAX"} {
			if !strings.Contains(o.Transient, part) || strings.Contains(o.Transient, secret) {
				b.T.Fatalf("%q is not in %q", part, o.Transient)
			}
		}
		if b.src.Sent() != 4 {
			b.T.Fatalf("%d lines were sent", b.src.Sent())
		}
		b.src.Mend(2, good(2))
		b.pass(time.Second) // now line 4 alone fails, and all the others have come
		b.want(3, 1, ingestor.Blocked)
		if o := b.in.Observe(); !strings.Contains(o.Transient, "takes 1 wait") || !strings.Contains(o.Transient, "and 2 that") {
			b.T.Fatalf("told %q", o.Transient)
		}
		b.src.Mend(4, good(4))
		b.pass(time.Second)
		b.want(6, 0, ingestor.Running)
		if o := b.in.Observe(); o.Transient != "" {
			b.T.Fatalf("still told %q", o.Transient)
		}
	})
}
