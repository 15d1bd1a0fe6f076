// SPDX-License-Identifier: Apache-2.0

package ingestor_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/node/ingestor"
	"github.com/nervix-go/nervix/host/node/nodetest"
)

// restless is a clock on which every read is an hour after the one before.
type restless struct{ reads int64 }

func (r *restless) read() vtime.Snapshot {
	r.reads++
	return vtime.Snapshot{Domain: nodetest.Domain, Generation: 1, Now: vtime.LogicalFromNS(origin.Add(time.Duration(r.reads) * time.Hour).UnixNano())}
}

func (r *restless) Snapshot() (vtime.Snapshot, error) { return r.read(), nil }

func (r *restless) Window() (vtime.Snapshot, clock.Window, bool, error) {
	return r.read(), clock.Window{}, false, nil
}

func (r *restless) Until(vtime.Logical) (time.Duration, error) { return 0, nil }

// Filter, constructions of both routes, event times and error records of a group all see the one instant at which it was taken up; the next group sees
// another.
func TestOneSnapshotAGroup(t *testing.T) {
	// req: C-113
	// req: C-114 half: the other places of expressions are other nodes'
	// req: C-117 half: what begins later is other nodes'
	text := source(wide, "TIMESTAMP NOW FILTER WHERE now() = now()"+
		" TO readings INHERIT ALL EXCEPT seen SET seen = now() UNBRANCHED FLUSH IMMEDIATE "+ignore+
		" TO copies INHERIT ALL EXCEPT seen, n SET seen = now(), n = 10 / coalesce(input.n, 0) UNBRANCHED FLUSH IMMEDIATE "+sendFlaws+", at = error.occurred_at"+general)
	text = strings.Replace(text, "CREATE SCHEMA flaw (", "CREATE SCHEMA flaw (at DATETIME OPTIONAL, ", 1)
	lines := []string{good(1), `{"bed":"a","wet":2,"n":5}`, good(3), `{"bed":"a","wet":4,"n":5}`}
	runBy(t, func(*nodetest.World) ingestor.Clock { return &restless{} }, text, lines, func(b *bench) {
		r, copies, flaws := b.Reader("readings"), b.Reader("copies"), b.Reader("flaws")
		b.src.Size = 2
		b.start()
		b.pass(time.Second)
		var seen [][]string
		for _, batch := range [][]nodetest.Seen{r.Seen(), copies.Seen()} {
			var times []string
			for _, s := range batch {
				for i, row := range s.Rows {
					at := strings.Split(row, "|")[1]
					if want := time.Unix(0, s.Low[i]).UTC().Format(time.RFC3339Nano); at != want {
						b.T.Fatalf("now() was %s and the event time %s", at, want)
					}
					times = append(times, at)
				}
			}
			seen = append(seen, times)
		}
		var errors []string
		for _, row := range flaws.Rows() {
			errors = append(errors, strings.Split(row, "|")[0])
		}
		first, second := seen[0][0], seen[0][2]
		if !slices.Equal(seen[0], []string{first, first, second, second}) || first == second || !slices.Equal(seen[1], []string{first, second}) || !slices.Equal(errors, []string{first, second}) {
			b.T.Fatalf("rows %v, errors %v", seen, errors)
		}
	})
}
