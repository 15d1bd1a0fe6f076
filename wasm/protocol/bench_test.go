// SPDX-License-Identifier: Apache-2.0

package protocol_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/nervix-go/nervix/wasm/protocol"
	"github.com/nervix-go/nervix/wasm/protocol/gen/nervix_wasm"
)

var benchRows = []int{1, 64, 1024, 8192}

// BenchmarkInput writes the input envelope of a batch of four columns.
func BenchmarkInput(b *testing.B) {
	for _, n := range benchRows {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			e := must[*protocol.InputEncoder](b)(protocol.NewInputEncoder(inputSchema))
			batch := inputBatch(n)
			dst := make([]byte, 1<<20)
			b.ReportAllocs()
			for b.Loop() {
				if e.Prepare(batch, 1) != nil || e.WriteTo(dst) != nil {
					b.Fatal("not written")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
		})
	}
}

func passThrough(b *testing.B, n int, first uint64) []byte {
	return packAligned(&nervix_wasm.OutputEnvelopeT{GeneratedArrowIpcBatch: stream(b, []arrow.Field{scoreField}, n), Outputs: []*nervix_wasm.RoutedOutputT{
		{OutputRelay: "alarms", Columns: []*nervix_wasm.OutputColumnRefT{column(protocol.Input, 0), column(protocol.Generated, 0), column(protocol.Uninitialized, 0)}, Acks: sidecar(rows(first, n))}}})
}

// BenchmarkOutput judges a pass-through with one generated column: message, columns, generated batch, tokens.
func BenchmarkOutput(b *testing.B) {
	for _, n := range benchRows {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			message, c, l := passThrough(b, n, 1), contract(), protocol.NewLedger(1)
			l.Issue(n)
			b.ReportAllocs()
			for b.Loop() {
				g, err := bind(c, message)
				if err != nil {
					b.Fatal(err)
				}
				s, err := l.Check([]*protocol.Group{g})
				if err != nil || s[0][0].Class != protocol.SelectAll {
					b.Fatal(err)
				}
				g.Release()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
		})
	}
}

// BenchmarkOutputByTable is what verifying the same message with the table-driven verifier alone costs.
func BenchmarkOutputByTable(b *testing.B) {
	for _, n := range benchRows {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			message := passThrough(b, n, 1)
			for b.Loop() {
				if err := oracle(message); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
		})
	}
}

// BenchmarkDecodeOutput is the message alone.
func BenchmarkDecodeOutput(b *testing.B) {
	for _, n := range benchRows {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			message := passThrough(b, n, 1)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := protocol.DecodeOutput(message); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/row")
		})
	}
}
