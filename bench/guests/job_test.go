// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"go.uber.org/goleak"

	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/shim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const dir = "../../wasm/guest/testdata"

func world(t *testing.T) (*World, wasmproc.Modules) {
	t.Helper()
	e, err := engine.New(engine.Config{Profile: engine.ProfileDense}, shim.Open)
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewWorld()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return w, Modules(e, dir)
}

// What is compared does the same job: all rows come out, input columns are the memory they were, and the generated column has a value a row.
func TestFormsDoTheSameJob(t *testing.T) {
	w, modules := world(t)
	const n = 100
	recorded, err := Record(w, modules, "numbering", n)
	if err != nil {
		t.Fatal(err)
	}
	forms := map[string]func() (*Feed, func() error){
		"guest": func() (*Feed, func() error) {
			p, err := w.NewProcessor("numbering", modules)
			if err != nil {
				t.Fatal(err)
			}
			return p.Feed, p.Close
		},
		"recorded": func() (*Feed, func() error) {
			p, err := w.NewProcessor("numbering", recorded)
			if err != nil {
				t.Fatal(err)
			}
			return p.Feed, p.Close
		},
		"junction": func() (*Feed, func() error) {
			j := w.NewJunction("number")
			return j.Feed, j.Close
		},
	}
	for name, open := range forms {
		t.Run(name, func(t *testing.T) {
			f, end := open()
			f.Prepare([]*batch.Key{w.Key(0), w.Key(1)}, n)
			in := f.Input()
			f.Sink.See = func(b *batch.Batch) {
				for c := range in.NumCols() {
					if !Same(b.Record.Column(int(c)), in.Column(int(c))) {
						t.Errorf("column %d was copied", c)
					}
				}
				number := b.Record.Column(int(in.NumCols())).(*array.Int64)
				want := int64(n - 1)
				if name == "junction" {
					want = n
				}
				if number.Len() != n || number.Value(n-1) != want || number.NullN() != 0 {
					t.Errorf("numbered %d rows, the last %d", number.Len(), number.Value(n-1))
				}
			}
			f.Work(10)
			if err := f.Check(10, 10*n); err != nil {
				t.Error(err)
			}
			if err := end(); err != nil {
				t.Error(err)
			}
		})
	}
	p, err := NewPlain(w, "numbering", n)
	if err != nil {
		t.Fatal(err)
	}
	if out := p.once(); out.Column(4).(*array.Int64).Value(n-1) != n-1 || !Same(out.Column(0), p.in.Column(0)) {
		t.Error("the loop in Go does another job")
	}
}

// Over 10,000 batches of changing sizes the guest's memory grows when a batch is larger than all before it, and at no other time. The sizes are in no
// order: a guest whose buffers grow by appending must find its freed ones again.
func TestGuestMemoryGrowsWithBatchSizeOnly(t *testing.T) {
	// req: A16
	// req: A07 half: some thousand batches here, a million in bench/wasm; recycling is shown in wasmproc
	w, modules := world(t)
	for _, c := range []struct {
		name    string
		sizes   []int
		batches int
	}{
		{"numbering", []int{21, 1, 55, 8}, 10_000},
		{"counting", []int{55, 21, 8}, 2000},
		{"counting", []int{300}, 500},
		{"heating", []int{64, 144, 21}, 1000},
	} {
		counted := &Counted{Modules: modules}
		p, err := w.NewProcessor(c.name, counted)
		if err != nil {
			t.Fatal(err)
		}
		p.Prepare([]*batch.Key{w.Key(0)}, c.sizes...)
		warm := 4 * len(c.sizes)
		p.Work(warm)
		at := counted.Counts
		if at.Grew > at.SizeGrew {
			t.Errorf("%s: memory grew %d times, the size of messages %d times", c.name, at.Grew, at.SizeGrew)
		}
		p.Work(c.batches - warm)
		end := counted.Counts
		if end.Grew != at.Grew || end.Memory != at.Memory {
			t.Errorf("%s: memory grew %d times more, to %d bytes, in %d batches of the same sizes", c.name, end.Grew-at.Grew, end.Memory, c.batches)
		}
		if asked := end.Messages - at.Messages; asked != c.batches-warm {
			t.Errorf("%s: the guest was asked for %d buffers in %d batches", c.name, asked, c.batches-warm)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
