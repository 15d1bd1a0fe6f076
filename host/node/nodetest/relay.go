// SPDX-License-Identifier: Apache-2.0

package nodetest

import (
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/nervix-go/nervix/host/ack"
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/lineage"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/relay/owner"
)

// Null is how a null is written and shown in rows.
const Null = array.NullValueStr

// Seen is one batch as a reader saw it. A row is its values joined by `|`.
type Seen struct {
	Key       string // canonical text; empty when unbranched
	Rows      []string
	Low, High []int64
	Tracked   bool
}

// Reader is a consumer of one relay.
type Reader struct {
	// Judge settles (nil) or fails a batch; without it every batch settles.
	Judge func(Seen) error

	w   *World
	sub *owner.Subscription

	mu      sync.Mutex
	stalled bool // takes nothing
	silent  bool // takes and says nothing
	refused bool
	seen    []Seen
	kept    []*batch.Batch
}

// Reader attaches a reader to a relay.
func (w *World) Reader(relay ident.Name) *Reader { return w.reader(relay, true) }

// Detached attaches a reader that nobody upstream waits for.
func (w *World) Detached(relay ident.Name) *Reader { return w.reader(relay, false) }

func (w *World) reader(relay ident.Name, attached bool) *Reader {
	r := &Reader{w: w}
	r.mu.Lock() // an offer may come before Attach returns
	defer r.mu.Unlock()
	r.sub = w.Relays[relay].Attach(r, attached)
	return r
}

// Offer implements owner.Consumer.
func (r *Reader) Offer(b *batch.Batch, seq uint64) bool {
	r.mu.Lock()
	if r.stalled {
		r.refused = true
		r.mu.Unlock()
		return false
	}
	seen := Show(b)
	r.seen = append(r.seen, seen)
	silent := r.silent
	if silent {
		r.kept = append(r.kept, b)
	}
	r.mu.Unlock()
	r.w.Exec.At(0).Post(lanes.Func(func(*lanes.Lane) {
		r.sub.Started(seq)
		if silent {
			return
		}
		r.mu.Lock()
		var err error
		if r.Judge != nil {
			err = r.Judge(seen)
		}
		r.mu.Unlock()
		if err != nil {
			b.Fail(err)
		} else {
			b.Settle()
		}
	}))
	return true
}

// Stall stops the reader from taking anything.
func (r *Reader) Stall() {
	r.mu.Lock()
	r.stalled = true
	r.mu.Unlock()
}

// Go lets a stalled reader take again.
func (r *Reader) Go() {
	r.mu.Lock()
	r.stalled = false
	refused := r.refused
	r.refused = false
	r.mu.Unlock()
	if refused {
		r.sub.Resume()
	}
}

// Keep makes the reader take batches and say nothing about them; Let ends that and settles, or fails, what was kept.
func (r *Reader) Keep() {
	r.mu.Lock()
	r.silent = true
	r.mu.Unlock()
}

// Let settles what was kept, or fails it with err.
func (r *Reader) Let(err error) {
	r.mu.Lock()
	kept := r.kept
	r.kept, r.silent = nil, false
	r.mu.Unlock()
	for _, b := range kept {
		if err != nil {
			b.Fail(err)
		} else {
			b.Settle()
		}
	}
}

// Do changes the reader, or what Judge reads, while it is in use.
func (r *Reader) Do(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

// Seen are the batches so far.
func (r *Reader) Seen() []Seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Seen(nil), r.seen...)
}

// Rows are all rows so far.
func (r *Reader) Rows() []string {
	var out []string
	for _, s := range r.Seen() {
		out = append(out, s.Rows...)
	}
	return out
}

// Leave ends the subscription.
func (r *Reader) Leave(reason error) { r.sub.Leave(reason) }

// Show reads a batch.
func Show(b *batch.Batch) Seen {
	s := Seen{Low: append([]int64(nil), b.Low...), High: append([]int64(nil), b.High...), Tracked: b.Lineage.Tracked()}
	if b.Key != nil {
		s.Key = b.Key.Text
	}
	for row := range b.Rows() {
		values := make([]string, b.Record.NumCols())
		for c := range values {
			values[c] = b.Record.Column(c).ValueStr(row)
		}
		s.Rows = append(s.Rows, strings.Join(values, "|"))
	}
	return s
}

// Fate is what became of a batch that a test published.
type Fate struct {
	mu       sync.Mutex
	block    *ack.Block
	settled  bool
	admitted bool
	reports  int
}

// BlockSettled implements ack.Owner.
func (f *Fate) BlockSettled(*ack.Block) {
	f.mu.Lock()
	f.settled = true
	f.mu.Unlock()
}

// BlockFailed implements ack.Owner.
func (f *Fate) BlockFailed(*ack.Block) {
	f.mu.Lock()
	f.reports++
	f.mu.Unlock()
}

// Settled says whether everybody let go of the batch.
func (f *Fate) Settled() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.settled
}

// Admitted says whether the relay took the batch.
func (f *Fate) Admitted() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.admitted
}

// Failed are the rows that failed, with their reasons.
func (f *Fate) Failed() map[int]string {
	out := map[int]string{}
	for x := f.block.Failures(); x != nil; x = x.Next() {
		for i := range x.Members.Len() {
			out[int(x.Members.At(i))] = x.Reason.Error()
		}
	}
	return out
}

// Alive is the last sign of life, monotonic.
func (f *Fate) Alive() int64 { return f.block.TouchedNS() }

// Publish puts rows into a relay as one batch of the branch that key, a row of the branch's schema, names; nil for an unbranched relay. Row
// values are text as arrow reads it. The watermarks of row i are marks[i], or i.
func (w *World) Publish(relay ident.Name, key []string, marks []int64, rows ...string) *Fate {
	w.T.Helper()
	plan := w.Graph.Relay(relay)
	record := w.Record(plan.Schema.Arrow(), rows)
	var k *batch.Key
	if key != nil {
		keys := w.Record(plan.Branch.Schema.Arrow(), []string{strings.Join(key, "|")})
		defer keys.Release()
		form := batch.NewKeyForm(plan.Branch.Ref.Name, plan.Branch.Schema)
		k = form.Key(string(form.AppendText(nil, keys.Columns(), 0)), keys.Columns(), 0)
	}
	for i := len(marks); i < len(rows); i++ {
		marks = append(marks, int64(i))
	}
	f := &Fate{}
	f.block = ack.NewBlock(f, make([]uint64, len(rows)), osclock.Mono().NS())
	p := &batch.Publication{Batch: batch.New(record, k, lineage.Of(f.block, len(rows)), marks, marks)}
	done := func() {
		f.mu.Lock()
		f.admitted = true
		f.mu.Unlock()
	}
	p.Admitted = done
	if w.Relays[relay].Publish(p) {
		done()
	}
	return f
}

// Record builds a record from rows of values joined by `|`.
func (w *World) Record(schema *arrow.Schema, rows []string) arrow.RecordBatch {
	w.T.Helper()
	b := array.NewRecordBuilder(w.Heap, schema)
	defer b.Release()
	for _, row := range rows {
		for c, v := range strings.Split(row, "|") {
			if err := b.Field(c).AppendValueFromString(v); err != nil {
				w.T.Fatalf("row %q: %v", row, err)
			}
		}
	}
	return b.NewRecordBatch()
}
