// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// Env is what one unit of work gives to its programs. The same Env may serve all programs of the unit, one after the other.
type Env struct {
	// Rows is the length of every column but those of RecordBranch, which have length 1.
	Rows int
	// Columns holds the columns of each record, borrowed for the evaluation. A program reads only those its Refs name.
	Columns [RecordCount][]arrow.Array
	// Now is the execution snapshot (nspl 11.5).
	Now vtime.Logical
	// Random fills a slice with random bytes; only uuid_v7 asks for it.
	Random func([]byte)
	// Alloc gives the memory of results; nil is Go's. One that recycles memory is several times faster: fresh memory costs more than most
	// programs.
	Alloc memory.Allocator
	// Scratch is the lane's working memory; nil makes one for the call.
	Scratch *Scratch
	// TextLimit lowers the bytes a text column may hold; 0 is the limit of nspl 7.5. It exists for tests of that limit.
	TextLimit int
}

// Program is a compiled expression: immutable and shared by all lanes.
type Program struct {
	root      node
	typ       types.Type
	optional  bool
	sensitive bool
	reads     []string
}

// Type is the exact type of the result.
func (p *Program) Type() types.Type { return p.typ }

// Optional says whether a row that did not fail may be null.
func (p *Program) Optional() bool { return p.optional }

// Sensitive says whether the result is sensitive (nspl 3.3).
func (p *Program) Sensitive() bool { return p.sensitive }

// Reads lists the fields the program reads, sorted, as error.fields wants them (nspl 9.5). It must not be changed.
func (p *Program) Reads() []string { return p.reads }

// Result is the value of every row and the rows that failed, which are null in Array.
type Result struct {
	// Array belongs to the caller, who releases it.
	Array arrow.Array
	// Failed is nil when no row failed.
	Failed *Failures
}

// Eval computes the column. It cannot fail as a whole.
func (p *Program) Eval(env *Env) Result {
	r := start(env)
	c := p.root.eval(r, nil)
	array := r.finish(c, p.typ)
	return Result{Array: array, Failed: r.failures()}
}

// EvalMask computes a predicate of type BOOL and writes the selection of the rows that are TRUE into dst, growing it when it is too short.
// Rows that are null or failed are not selected. Bits past the last row are zero.
func (p *Program) EvalMask(env *Env, dst []byte) ([]byte, *Failures) {
	r := start(env)
	r.transient = true
	c := p.root.eval(r, nil)
	if need := bitmapBytes(r.n); cap(dst) < need {
		dst = make([]byte, need)
	} else {
		dst = dst[:need]
	}
	for w := range words(r.n) {
		v := boolWord(&c, w) & constWord(&c, w) & tail(r.n, w)
		if r.failed != nil {
			v &^= word(r.failed, w)
		}
		putWord(dst, w, v)
	}
	return dst, r.failures()
}

func start(env *Env) *run {
	mem := env.Scratch
	if mem == nil {
		mem = NewScratch()
	}
	r := &mem.run
	r.start(env, mem)
	return r
}

// alloc is the allocator of results.
func (e *Env) alloc() memory.Allocator {
	if e.Alloc == nil {
		return memory.DefaultAllocator
	}
	return e.Alloc
}
