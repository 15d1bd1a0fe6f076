// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/model"
)

// rows makes a record of a schema whose values are plausible for every guest here: temperatures from 20 to 40, half of them hot.
func rows(schema *arrow.Schema, n int) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range n {
		for c := range schema.NumFields() {
			switch f := b.Field(c).(type) {
			case *array.StringBuilder:
				f.Append("station-07")
			case *array.TimestampBuilder:
				f.Append(arrow.Timestamp(1_700_000_000_000_000_000 + int64(i)*1_000_000))
			case *array.Float64Builder:
				f.Append(20 + float64(i*7%200)/10)
			case *array.Int64Builder:
				f.Append(int64(i))
			default:
				panic(fmt.Sprintf("no values for a column of %s", schema.Field(c).Type))
			}
		}
	}
	return b.NewRecordBatch()
}

// key is the i-th branch.
func key(plan *model.Branch, i int) *batch.Key {
	b := array.NewRecordBuilder(memory.DefaultAllocator, plan.Schema.Arrow())
	defer b.Release()
	b.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("station-%06d", i))
	values := b.NewRecordBatch()
	form := batch.NewKeyForm(plan.Ref.Name, plan.Schema)
	return form.Key(string(form.AppendText(nil, values.Columns(), 0)), values.Columns(), 0)
}
