// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"sync/atomic"

	"github.com/nervix-go/nervix/host/kernel/lineage"
)

// joint is the lineage of output rows that stand for several inputs, for none, or for inputs in an order that no run can name: a block whose member i
// is row i of the output. It holds every block that an input of the output belongs to, and passes on what happens to the rows (W-103). A
// row that fails fails all its inputs.
type joint struct {
	holds  atomic.Int64
	blocks []lineage.Block
	starts []uint32 // of row i in refs; one more than there are rows
	refs   []member
}

type member struct{ block, member uint32 }

var _ lineage.Block = (*joint)(nil)

// Hold implements lineage.Block.
func (j *joint) Hold(n int) { j.holds.Add(int64(n)) }

// Release implements lineage.Block.
func (j *joint) Release() {
	switch left := j.holds.Add(-1); {
	case left == 0:
		for _, b := range j.blocks {
			b.Release()
		}
	case left < 0:
		panic("wasmproc: the lineage of an output was released more often than held")
	}
}

// Fail implements lineage.Block.
func (j *joint) Fail(rows lineage.Members, reason error) {
	lists := make([][]uint32, len(j.blocks))
	for i := range rows.Len() {
		row := rows.At(i)
		for _, ref := range j.refs[j.starts[row]:j.starts[row+1]] {
			lists[ref.block] = append(lists[ref.block], ref.member)
		}
	}
	for b, list := range lists {
		if len(list) > 0 {
			j.blocks[b].Fail(lineage.Members{List: list}, reason)
		}
	}
}

// Touch implements lineage.Block.
func (j *joint) Touch(monoNS int64) {
	for _, b := range j.blocks {
		b.Touch(monoNS)
	}
}

// joiner builds a joint.
type joiner struct {
	j       *joint
	numbers map[lineage.Block]uint32
	cursors map[*intake]*cursor
	last    *intake
	at      *cursor
}

func newJoiner(rows int) *joiner {
	return &joiner{
		j: &joint{starts: make([]uint32, 1, rows+1), refs: make([]member, 0, rows)}, numbers: make(map[lineage.Block]uint32), cursors: make(map[*intake]*cursor),
	}
}

// add says that the present row stands for an input row.
func (j *joiner) add(in *intake, row int) {
	if in != j.last {
		j.last = in
		if j.at = j.cursors[in]; j.at == nil {
			j.at = &cursor{runs: in.lin.Runs()}
			j.cursors[in] = j.at
		}
	}
	run, offset := j.at.find(row)
	if run == nil || run.Block == nil {
		return // nobody upstream waits for it
	}
	number, known := j.numbers[run.Block]
	if !known {
		number = uint32(len(j.j.blocks))
		j.numbers[run.Block] = number
		j.j.blocks = append(j.j.blocks, run.Block)
		run.Block.Hold(1)
	}
	j.j.refs = append(j.j.refs, member{number, run.Members.At(offset)})
}

// next ends the present row.
func (j *joiner) next() { j.j.starts = append(j.j.starts, uint32(len(j.j.refs))) }

// done gives the lineage of all rows.
func (j *joiner) done() lineage.Lineage {
	if len(j.j.blocks) == 0 {
		return lineage.Lineage{}
	}
	j.j.holds.Store(1)
	return lineage.Of(j.j, len(j.j.starts)-1)
}

// cursor finds the run of a row; it is fast while rows ascend.
type cursor struct {
	runs []lineage.Run
	at   int
	base int // first row of runs[at]
}

func (c *cursor) find(row int) (run *lineage.Run, offset int) {
	if row < c.base {
		c.at, c.base = 0, 0
	}
	for ; c.at < len(c.runs); c.at++ {
		n := c.runs[c.at].Members.Len()
		if row < c.base+n {
			return &c.runs[c.at], row - c.base
		}
		c.base += n
	}
	c.at, c.base = 0, 0
	return nil, 0
}
