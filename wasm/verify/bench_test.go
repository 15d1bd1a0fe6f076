// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"
	"os"
	"strconv"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/shim"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// BenchmarkGuest is what one batch costs in a guest, the host's encoding and judging left out.
func BenchmarkGuest(b *testing.B) {
	numbers := func(name ident.Name, more ...types.Field) *types.Schema {
		return types.NewSchema(name, append([]types.Field{{Name: "a", Type: types.Of(types.I64)}, {Name: "b", Type: types.Of(types.F64), Optional: true}}, more...))
	}
	in := numbers(InputName)
	for _, guest := range []struct {
		name    string
		file    string
		schemas *Schemas
	}{
		{"pass", "c_passthrough", &Schemas{in, []protocol.Route{{Relay: "out", Schema: numbers("out")}}}},
		{"numbered", "c_passthrough", &Schemas{in, []protocol.Route{{Relay: "out", Schema: numbers("out", types.Field{Name: "n", Type: types.Of(types.I64)})}}}},
		{"reference", "c_reference", jobOwn},
	} {
		wasm, err := os.ReadFile("../guest/testdata/" + guest.file + ".wasm")
		if err != nil {
			b.Fatal(err)
		}
		for _, rows := range []int{1, 64, 1024, 8192} {
			b.Run(guest.name+"/"+strconv.Itoa(rows), func(b *testing.B) { benchmark(b, wasm, guest.schemas, rows) })
		}
	}
}

func benchmark(b *testing.B, wasm []byte, s *Schemas, rows int) {
	k := &kit{ctx: context.Background(), tap: &tap{}, spec: engine.Spec{Fuel: 1e10, Memory: 1 << 30}}
	e, err := engine.New(engine.Config{Profile: engine.ProfileGuard}, k.tap.open(shim.Open))
	if err != nil {
		b.Fatal(err)
	}
	k.engine = e
	if k.module, err = e.Acquire(k.ctx, wasm); err != nil {
		b.Fatal(err)
	}
	g, err := k.started(scenario{schemas: s, domain: testDomain, kind: testKind, key: testKey})
	if err != nil {
		b.Fatal(err)
	}
	message, err := g.encoded(made(s.Input, rows, 1, false), firstToken)
	if err != nil {
		b.Fatal(err)
	}
	var fuel uint64
	b.ResetTimer()
	for range b.N {
		g.Begin(engine.OpBatch, vtime.LogicalFromNS(begin))
		a, err := g.Deliver(engine.ProcessBatch, message)
		for err == nil && a.Output.Len() > 0 {
			a, err = g.ReadEmit()
		}
		if err != nil {
			b.Fatal(err)
		}
		fuel += a.FuelUsed
	}
	b.StopTimer()
	b.ReportMetric(float64(fuel)/float64(b.N)/float64(rows), "fuel/row")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
	_ = g.Close()
	k.module.Release()
	if err := e.Close(k.ctx); err != nil {
		b.Fatal(err)
	}
}
