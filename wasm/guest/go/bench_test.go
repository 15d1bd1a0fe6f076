// SPDX-License-Identifier: Apache-2.0

package guest

import "testing"

// BenchmarkBatch is one batch of 64 rows: decode, hand every row on with one generated column, encode, read.
func BenchmarkBatch(b *testing.B) {
	desc := plainInit()
	desc.Outputs = []*Schema{schema("out", "sensor STRING, number I64, label STRING")}
	numbers := make([]int64, 64)
	g := began(b, &sketch{batch: func(c *Call, batch *Batch) error {
		out, to := c.Output(), c.Init().Outputs[0]
		number, label := out.Generate(to, "number"), out.Generate(to, "label")
		number.Int64s(numbers)
		for range batch.Rows() {
			label.String("label")
		}
		out.Route(to).FromInput(0).FromGenerated(number, label).CarryAll(batch)
		return c.Emit(out)
	}}, desc)
	rows := make([][]any, 64)
	for i := range rows {
		rows[i] = []any{"north", i, Epoch}
	}
	message := g.encode(rows)
	b.ReportAllocs()
	for b.Loop() {
		g.ok(g.deliver(g.ProcessBatch, message))
		for g.ReadEmit() > 0 {
		}
	}
}
