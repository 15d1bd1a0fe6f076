// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/plugins/wire"
)

func TestBytesOfPayloads(t *testing.T) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, wire.SinkSchema)
	defer b.Release()
	for i, text := range []string{"", "four", "seven .."} {
		b.Field(0).(*array.Uint64Builder).Append(uint64(i))
		b.Field(1).(*array.BinaryBuilder).AppendString(text)
	}
	var batch arrow.RecordBatch = b.NewRecordBatch()
	defer batch.Release()
	for from, want := range []int{12, 12, 8, 0} {
		part := batch.NewSlice(int64(from), 3)
		if got := payloadsOf(part).Bytes(); got != want {
			t.Errorf("%d bytes from payload %d on, want %d", got, from, want)
		}
		part.Release()
	}
}
