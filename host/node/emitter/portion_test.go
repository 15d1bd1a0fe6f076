// SPDX-License-Identifier: Apache-2.0

package emitter_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/node/nodetest"
)

// A connector takes frames of a bounded size, and MAX BATCH SIZE has no bound: a flush that is longer goes out in several attempts, one after the
// other and in order, or it would be refused again and again and never leave.
func TestLongFlushIsOfferedInPortions(t *testing.T) {
	// req: P-037 half: the shape of a record sink; rows and requests come with their sinks
	long := func(n int) string { return strings.Repeat(string(rune('a'+n)), 5<<20) }
	refuse, most := true, 0
	sink := &nodetest.Sink{}
	sink.Respond = func(a nodetest.Attempt) nodetest.Answer {
		size := 0
		for _, p := range a.Payloads {
			size += len(p)
		}
		most = max(most, size)
		if len(a.IDs) > 1 && refuse && a.IDs[0] > 0 { // the second portion needs a second try
			refuse = false
			return judging(func(p string) string {
				if strings.HasPrefix(p, line(long(4))[:20]) {
					return "?"
				}
				return ""
			}, nil)(a)
		}
		return nodetest.All(a)
	}
	run(t, text("readings", all, "FLUSH EACH 1s MAX BATCH SIZE 1GiB", "LOG"), sink, func(b *bench) {
		var fates []*nodetest.Fate
		for n := range 4 {
			fates = append(fates, b.put(rows(long(2*n), long(2*n+1))...))
		}
		b.pass(1050 * time.Millisecond)
		for _, f := range fates {
			wantFate(b.T, f, false) // an attempt that leaves something out waits for its retry, as does all behind it
		}
		b.pass(time.Second)
		for _, f := range fates {
			wantFate(b.T, f, true)
		}
		next := uint64(0)
		for _, a := range b.sink.Attempts() {
			for i, id := range a.IDs {
				next = max(next, id+1)
				if a.Payloads[i] != line(long(int(id))) {
					b.T.Fatalf("payload %d is another", id)
				}
			}
		}
		if o := b.e.Observe(); next != 8 || most > 16<<20 || o.Emitted != 8 || o.Flushes != 1 || o.Status != "OK" || b.e.Busy() {
			b.T.Fatalf("%d payloads, at most %d bytes in an attempt, %+v", next, most, o)
		}
	})
}

func TestPayloadLongerThanAPortionGoesAlone(t *testing.T) {
	sink := &nodetest.Sink{}
	run(t, text("readings", all, immediate, "LOG"), sink, func(b *bench) {
		f := b.put(rows("a", strings.Repeat("b", 17<<20), "c", "d")...)
		b.pass(time.Millisecond)
		wantFate(b.T, f, true)
		var sizes []int
		for _, a := range b.sink.Attempts() {
			sizes = append(sizes, len(a.IDs))
		}
		if len(sizes) != 3 || sizes[0] != 1 || sizes[1] != 1 || sizes[2] != 2 {
			b.T.Fatalf("attempts of %v payloads", sizes)
		}
	})
}
