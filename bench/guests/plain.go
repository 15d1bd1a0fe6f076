// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/recycler"
)

// Plain is a job as one writes it in Go when nothing is asked but the result: columns are shared, generated ones are filled in a loop. No rows are
// tracked, nothing is judged, nobody is isolated.
type Plain struct {
	in    arrow.RecordBatch
	out   *arrow.Schema
	once  func() arrow.RecordBatch
	alloc memory.Allocator
	// Rows is how many came out.
	Rows int64

	days int64
	ring [7]float64
}

// NewPlain makes the job of a processor over a record of n rows: copying, numbering or counting.
func NewPlain(w *World, name string, n int) (*Plain, error) {
	plan, err := processor(w.Graph, name)
	if err != nil {
		return nil, err
	}
	p := &Plain{in: rows(plan.InputSchema.Arrow(), n), out: plan.Routes[0].Relay.Schema.Arrow(), alloc: &recycler.Allocator{}}
	switch name {
	case "copying":
		p.once = p.copying
	case "numbering":
		p.once = p.numbering
	case "counting":
		p.once = p.counting
	default:
		return nil, fmt.Errorf("nobody wrote %q in Go", name)
	}
	return p, nil
}

// Work does the job n times.
func (p *Plain) Work(n int) {
	for range n {
		out := p.once()
		p.Rows += out.NumRows()
		out.Release()
	}
}

func (p *Plain) copying() arrow.RecordBatch {
	return array.NewRecordBatch(p.out, p.in.Columns(), p.in.NumRows())
}

func (p *Plain) numbering() arrow.RecordBatch {
	values := p.column()
	for i, v := 0, arrow.Int64Traits.CastFromBytes(values.Bytes()); i < len(v); i++ {
		v[i] = int64(i)
	}
	return p.with(p.in.Columns(), finished{arrow.PrimitiveTypes.Int64, values})
}

// counting is wasm/guest/c/counter.c.
func (p *Plain) counting() arrow.RecordBatch {
	days, means := p.column(), p.column()
	d, m := arrow.Int64Traits.CastFromBytes(days.Bytes()), arrow.Float64Traits.CastFromBytes(means.Bytes())
	kept := 0
	for i, v := range p.in.Column(3).(*array.Float64).Float64Values() {
		if !(v > -90 && v < 60) {
			continue
		}
		m[i] = p.mean(v)
		d[i] = p.days
		kept++
	}
	if kept != len(d) {
		panic("the rows of the benchmark have no errors")
	}
	in := p.in.Columns()
	return p.with([]arrow.Array{in[0], in[1], in[3]}, finished{arrow.PrimitiveTypes.Int64, days}, finished{arrow.PrimitiveTypes.Float64, means})
}

func (p *Plain) mean(v float64) float64 {
	const window = int64(len(p.ring))
	p.ring[p.days%window] = v
	p.days++
	n := min(p.days, window)
	sum := 0.0
	for i := p.days - n; i < p.days; i++ {
		sum += p.ring[i%window]
	}
	return sum / float64(n)
}

// column is room for eight bytes a row.
func (p *Plain) column() *memory.Buffer {
	b := memory.NewResizableBuffer(p.alloc)
	b.Resize(8 * int(p.in.NumRows()))
	return b
}

// finished is a column whose values are there.
type finished struct {
	t      arrow.DataType
	values *memory.Buffer
}

// with makes the output of shared columns and generated ones, which it takes over.
func (p *Plain) with(shared []arrow.Array, generated ...finished) arrow.RecordBatch {
	columns := append(make([]arrow.Array, 0, len(shared)+len(generated)), shared...)
	for _, g := range generated {
		data := array.NewData(g.t, int(p.in.NumRows()), []*memory.Buffer{nil, g.values}, nil, 0, 0)
		columns = append(columns, array.MakeFromData(data))
		data.Release()
		g.values.Release()
	}
	out := array.NewRecordBatch(p.out, columns, p.in.NumRows())
	for _, c := range columns[len(shared):] {
		c.Release()
	}
	return out
}
