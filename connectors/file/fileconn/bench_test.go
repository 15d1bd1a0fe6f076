// SPDX-License-Identifier: Apache-2.0

package fileconn_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/nervix-go/nervix/connectors/file/fileconn"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/plugins/inproc"
	"github.com/nervix-go/nervix/plugins/supervise"
)

type counting struct {
	session chan connector.SourceSession
	own     connector.SourceSession
	done    chan struct{}
}

func (c *counting) SourceBatch(epoch uint64, b arrow.RecordBatch, bytes int64) {
	if c.own == nil {
		c.own = <-c.session
	}
	c.own.Grant(epoch, 1, bytes, b.NumRows())
	b.Release()
}

func (c *counting) SourceState(s connector.SourceStatus) {
	if s.State == connector.Finished {
		close(c.done)
	}
}

// BenchmarkInProcess is the work of source, SDK and host without sockets between them; lines of 100 bytes.
func BenchmarkInProcess(b *testing.B) {
	root := b.TempDir()
	w := world{&testing.T{}, root, nil, nil}
	text := strings.Repeat(strings.Repeat("x", 99)+"\n", 64<<20/100)
	w.write("a", text)
	launcher, installed := inproc.New(nil, fileconn.Connector())
	h := supervise.New(supervise.Options{Connectors: installed, Launcher: launcher, FileRoot: root})
	defer h.Close(b.Context())
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		plan := w.sourcePlan("a")
		plan.CreditBatches, plan.CreditBytes = 8, 4<<20
		c := &counting{session: make(chan connector.SourceSession, 1), done: make(chan struct{})}
		s, err := h.OpenSource(b.Context(), plan, c)
		if err != nil {
			b.Fatal(err)
		}
		c.session <- s
		<-c.done
		if err := s.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
