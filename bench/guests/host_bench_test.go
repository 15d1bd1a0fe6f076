// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"context"
	"fmt"
	"syscall"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/shim"
)

// BenchmarkProcessor is for profiles: the whole processor over the real guest, and over its recorded answers, which leaves the host's work.
func BenchmarkProcessor(b *testing.B) {
	e, err := engine.New(engine.Config{Profile: engine.ProfileGuard}, shim.Open)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = e.Close(context.Background()) }()
	w, err := NewWorld()
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	for _, plan := range []string{"copying", "numbering"} {
		for _, n := range []int{1, 64, 1024, 8192} {
			for _, kind := range []string{"guest", "recorded"} {
				var modules wasmproc.Modules = Modules(e, dir)
				if kind == "recorded" {
					if modules, err = Record(w, modules, plan, n); err != nil {
						b.Fatal(err)
					}
				}
				b.Run(fmt.Sprintf("%s/rows=%d/%s", plan, n, kind), func(b *testing.B) {
					p, err := w.NewProcessor(plan, modules)
					if err != nil {
						b.Fatal(err)
					}
					defer func() { _ = p.Close() }()
					p.Prepare([]*batch.Key{w.Key(0)}, n)
					p.Work(10)
					b.ReportAllocs()
					b.ResetTimer()
					before := processorTime(b)
					p.Work(b.N)
					b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-ns/op")
				})
			}
		}
	}
}

// processorTime of the process in nanoseconds: on a busy machine it says more than the time that passed.
func processorTime(b *testing.B) int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return r.Utime.Nano() + r.Stime.Nano()
}
