// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/plugins/supervise"
)

// drain takes batches and gives their credit back, as an ingestor does that has nothing to do.
type drain struct {
	session chan connector.SourceSession
	own     connector.SourceSession
	done    chan connector.State
}

func (d *drain) SourceBatch(epoch uint64, b arrow.RecordBatch, bytes int64) {
	if d.own == nil {
		d.own = <-d.session
	}
	d.own.Grant(epoch, 1, bytes, b.NumRows())
	b.Release()
}

func (d *drain) SourceState(s connector.SourceStatus) {
	if s.State == connector.Finished || s.State == connector.Lost {
		d.done <- s.State
	}
}

// BenchmarkFileSource reads a file of 256 MiB in lines of 100 bytes from the page cache, through a connector process, into checked batches.
func BenchmarkFileSource(b *testing.B) {
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat(strings.Repeat("x", 99)+"\n", 256<<20/100)
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	installed, _ := supervise.Discover(built)
	h := supervise.New(supervise.Options{Connectors: installed, FileRoot: dir})
	defer h.Close(b.Context())
	s := Subject{Host: h, Root: dir}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		plan := s.SourcePlan("a")
		plan.CreditBatches, plan.CreditBytes = 8, 4<<20
		d := &drain{session: make(chan connector.SourceSession, 1), done: make(chan connector.State, 4)}
		session, err := h.OpenSource(b.Context(), plan, d)
		if err != nil {
			b.Fatal(err)
		}
		d.session <- session
		if st := <-d.done; st != connector.Finished {
			b.Fatal(st)
		}
		if err := session.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
