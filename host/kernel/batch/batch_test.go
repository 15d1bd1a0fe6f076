// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"errors"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/kernel/lineage"
)

// tally counts what happens to a block.
type tally struct{ holds, fails int }

func (c *tally) Hold(n int)                      { c.holds += n }
func (c *tally) Release()                        { c.holds-- }
func (c *tally) Fail(m lineage.Members, _ error) { c.fails += m.Len() }
func (c *tally) Touch(int64)                     {}

// made is a record of rows rows with a number, a text and a nullable flag.
func made(rows int, alloc memory.Allocator) arrow.RecordBatch {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64},
		{Name: "s", Type: arrow.BinaryTypes.String},
		{Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(alloc, schema)
	defer b.Release()
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.StringBuilder).Append("value")
		if i%3 == 0 {
			b.Field(2).AppendNull()
		} else {
			b.Field(2).(*array.BooleanBuilder).Append(i%2 == 0)
		}
	}
	return b.NewRecordBatch()
}

func TestOwnersEndTheirPartEach(t *testing.T) {
	alloc := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer alloc.AssertSize(t, 0)
	block := &tally{holds: 1}
	marks := make([]int64, 10)
	b := New(made(10, alloc), nil, lineage.Of(block, 10), marks, marks)
	b.Share(3)
	if block.holds != 3 {
		t.Fatalf("three owners have %d holds", block.holds)
	}
	u := b.Untracked()
	if u.Lineage.Tracked() || u.Rows() != 10 {
		t.Fatal("the detached view is tracked or lost rows")
	}
	b.Settle()
	b.Fail(errors.New("lost"))
	u.Fail(errors.New("nobody waits"))
	if block.holds != 1 || block.fails != 10 {
		t.Fatalf("%d holds and %d failed rows, want 1 and 10", block.holds, block.fails)
	}
	b.Settle()
	if block.holds != 0 {
		t.Fatalf("%d holds at the end", block.holds)
	}
}

// The consumers of one relay work on different lanes and read one record. Arrow counts the nulls of a slice when first asked and writes the
// count into the array, so a batch has them counted before it is shared.
func TestBatchOfASliceMayBeReadByManyLanes(t *testing.T) {
	for range 20 {
		whole := made(100, memory.DefaultAllocator)
		marks := make([]int64, 50)
		b := New(whole.NewSlice(7, 57), nil, lineage.Lineage{}, marks, marks)
		b.Share(4)
		var lanes sync.WaitGroup
		for range 4 {
			lanes.Go(func() {
				p := Piece{Record: b.Record, Rows: []uint32{0, 9, 30}, Low: marks, High: marks}
				p.Bytes()
				record, _, _ := Gather(b.Record.Schema(), []Piece{p}, memory.DefaultAllocator)
				record.Release()
			})
		}
		lanes.Wait()
		whole.Release()
	}
}

// spread makes pieces whose work depends on the number of rows only, so that allocations can be compared.
func spread(rows int) (schema *arrow.Schema, build func() []Piece) {
	whole := made(rows, memory.DefaultAllocator)
	marks := make([]int64, rows)
	var even []uint32
	for i := 0; i < rows; i += 2 {
		even = append(even, uint32(i))
	}
	pieces := make([]Piece, 2)
	return whole.Schema(), func() []Piece {
		whole.Retain()
		whole.Retain()
		pieces[0] = Piece{Record: whole, Rows: even, Low: marks, High: marks}
		pieces[1] = Piece{Record: whole, Low: marks, High: marks}
		return pieces
	}
}

func TestNothingIsAllocatedByRow(t *testing.T) {
	// req: R-025 half: sizes and joins of batches; the watermark columns are slices, read without any call
	measure := func(rows int) (size, join, hop float64) {
		schema, build := spread(rows)
		p := build()
		size = testing.AllocsPerRun(50, func() { p[0].Bytes() })
		join = testing.AllocsPerRun(50, func() {
			record, low, high := Gather(schema, build(), memory.DefaultAllocator)
			b := New(record, nil, lineage.Lineage{}, low, high)
			var latest int64
			for i := range b.Low {
				latest = max(latest, b.High[i]-b.Low[i])
			}
			b.Settle()
		})
		block := &tally{holds: 1}
		b := New(p[1].Record, nil, lineage.Of(block, rows), p[1].Low, p[1].High)
		hop = testing.AllocsPerRun(50, func() {
			b.Share(2)
			b.Record.Release()
			b.Lineage.Settle()
		})
		return size, join, hop
	}
	size16, join16, hop16 := measure(16)
	size1k, join1k, hop1k := measure(1024)
	if size16 != size1k || join16 != join1k || hop16 != hop1k {
		t.Fatalf("16 rows: %v %v %v allocations, 1,024 rows: %v %v %v", size16, join16, hop16, size1k, join1k, hop1k)
	}
	if size1k != 0 || hop1k != 0 {
		t.Fatalf("measuring took %v allocations and a hop %v, want none", size1k, hop1k)
	}
}
