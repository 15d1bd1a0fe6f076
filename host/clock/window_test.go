// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// window is a drawn window with what it was made from.
type window struct {
	Window
	origin, now int64
	pace        Pace
}

func (w window) centres() (oldest, frontier *big.Int) {
	frontier = new(big.Int).Div(diff(w.now, w.origin), bigOfU(w.pace.Period))
	oldest = new(big.Int).Sub(frontier, big.NewInt(255))
	if oldest.Sign() < 0 {
		oldest.SetInt64(0)
	}
	return oldest, frontier
}

func (w window) centre(k *big.Int) *big.Int {
	return sum(bigOf(w.origin), new(big.Int).Mul(k, bigOfU(w.pace.Period)))
}

// admits is C-126 and C-127 word for word, in integers without bounds.
func (w window) oracle(ns int64) bool {
	one, skew := big.NewInt(1), bigOfU(w.pace.Skew)
	k, frontier := w.centres()
	for ; k.Cmp(frontier) <= 0; k.Add(k, one) {
		if d := new(big.Int).Sub(bigOf(ns), w.centre(k)); d.CmpAbs(skew) <= 0 {
			return true
		}
	}
	return false
}

// drawWindow crowds around few and many reached centres, and around skews that touch, nearly touch and do not touch.
func drawWindow(t *rapid.T) window {
	p := Pace{Period: periods().Draw(t, "period"), Skew: lengths().Draw(t, "skew")}
	if rapid.Bool().Draw(t, "nearly touching") {
		p.Skew = p.Period/2 - min(p.Period/2, rapid.Uint64Range(0, 3).Draw(t, "short"))
	}
	origin := instants().Draw(t, "origin")
	now := instants().Draw(t, "now")
	if rapid.Bool().Draw(t, "near") {
		passed := new(big.Int).Mul(bigOfU(p.Period), big.NewInt(rapid.Int64Range(0, 600).Draw(t, "periods")))
		passed = sum(passed, big.NewInt(rapid.Int64Range(-1, 1).Draw(t, "off")))
		if at := sum(bigOf(origin), passed); at.IsInt64() {
			now = at.Int64()
		}
	}
	now = max(now, origin)
	w, err := WindowAt(Mapping{LogicalStart: vtime.LogicalFromNS(origin), Rate: 1}, p, vtime.LogicalFromNS(now))
	if err != nil {
		t.Fatal(err)
	}
	return window{w, origin, now, p}
}

// event draws a timestamp, mostly within 2 ns of an edge of a centre, a centre, or halfway between two.
func (w window) event() *rapid.Generator[int64] {
	near := rapid.Custom(func(t *rapid.T) int64 {
		oldest, frontier := w.centres()
		n := new(big.Int).Sub(frontier, oldest).Int64()
		k := sum(oldest, big.NewInt(rapid.Int64Range(-2, n+2).Draw(t, "centre")))
		at := w.centre(k)
		switch rapid.IntRange(0, 3).Draw(t, "place") {
		case 0:
			at.Sub(at, bigOfU(w.pace.Skew))
		case 1:
			at.Add(at, bigOfU(w.pace.Skew))
		case 2:
			at.Add(at, bigOfU(w.pace.Period/2))
		}
		at.Add(at, big.NewInt(rapid.Int64Range(-2, 2).Draw(t, "off")))
		if !at.IsInt64() {
			return rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64}).Draw(t, "end")
		}
		return at.Int64()
	})
	return rapid.OneOf(near, near, near, instants())
}

func TestAdmissionFollowsItsDefinition(t *testing.T) {
	// req: C-126, C-127, C-128, C-018
	rapid.Check(t, func(t *rapid.T) {
		w := drawWindow(t)
		for range 4 {
			ns := w.event().Draw(t, "event")
			if got, want := w.Admits(ns), w.oracle(ns); got != want {
				t.Fatalf("%d: %v, want %v", ns, got, want)
			}
		}
		oldest, frontier := w.centres()
		if w.Frontier() != frontier.Uint64() || bigOf(w.First().NS()).Cmp(w.centre(oldest)) != 0 || bigOf(w.Last().NS()).Cmp(w.centre(frontier)) != 0 || w.Now().NS() != w.now {
			t.Fatalf("frontier %d, centres %v to %v", w.Frontier(), w.First(), w.Last())
		}
	})
}

func TestSelectAgreesWithAdmits(t *testing.T) {
	// req: C-132
	// req: C-130 half: that a group prepares once is the ingestor's
	shapes := map[shape]int{}
	rapid.Check(t, func(t *rapid.T) {
		w := drawWindow(t)
		shapes[w.kernel.shape]++
		ts := rapid.SliceOfN(w.event(), 0, 200).Draw(t, "events")
		offset := rapid.IntRange(0, 70).Draw(t, "offset")
		var valid []byte
		if rapid.Bool().Draw(t, "nulls") {
			valid = rapid.SliceOfN(rapid.Byte(), (offset+len(ts)+7)/8, (offset+len(ts)+7)/8).Draw(t, "valid")
		}
		checkSelect(t, &w.Window, ts, valid, offset)
	})
	for s := all; s <= plain; s++ {
		if shapes[s] == 0 {
			t.Errorf("no window of shape %d was drawn: %v", s, shapes)
		}
	}
}

// checkSelect compares Select with Admits row by row, and sees that it writes its bits and nothing behind them.
func checkSelect(t interface {
	Helper()
	Fatalf(string, ...any)
}, w *Window, ts []int64, valid []byte, offset int) {
	t.Helper()
	dst := make([]byte, (len(ts)+7)/8+3)
	for i := range dst {
		dst[i] = 0xa5
	}
	admitted := w.Select(dst, ts, valid, offset)
	count := 0
	for i := range 8 * ((len(ts) + 7) / 8) {
		want := false
		if i < len(ts) {
			want = w.Admits(ts[i]) && (valid == nil || valid[(offset+i)/8]>>((offset+i)%8)&1 == 1)
		}
		if want {
			count++
		}
		if got := dst[i/8]>>(i%8)&1 == 1; got != want {
			t.Fatalf("row %d: %v, want %v (kernel %+v)", i, got, want, w.kernel)
		}
	}
	if admitted != count {
		t.Fatalf("%d rows admitted, want %d", admitted, count)
	}
	for _, b := range dst[(len(ts)+7)/8:] {
		if b != 0xa5 {
			t.Fatalf("Select wrote behind its bitmap")
		}
	}
}

// TestSelectOfEveryEdge visits all edges of all centres of windows whose numbers sit at the ends of what the multiplication must do: powers
// of two and their neighbours as periods, gaps from 1 ns on, few and all centres.
func TestSelectOfEveryEdge(t *testing.T) {
	// req: C-132
	var ts []int64
	for bit := 0; bit < 56; bit++ {
		for _, off := range []uint64{0, 1, 2} {
			period := uint64(1)<<bit + 1 - off
			if period < 2 {
				continue
			}
			for _, gap := range []uint64{1, 2, period>>22 + 1, period>>22 + 2, period / 2, period} {
				if gap > period || gap == 0 {
					continue
				}
				for _, reached := range []uint64{1, 2, 127, 255, 256, 1000} {
					skew := (period - gap) / 2
					origin := int64(-3e17)
					if period*reached > 1<<61 {
						origin = math.MinInt64 / 2
					}
					if period > uint64(math.MaxInt64-origin)/reached {
						continue
					}
					m := Mapping{LogicalStart: vtime.LogicalFromNS(origin), Rate: 1}
					w, err := WindowAt(m, Pace{period, skew}, vtime.LogicalFromNS(origin+int64(period*reached)))
					if err != nil {
						t.Fatal(err)
					}
					ts = ts[:0]
					for at := w.first - int64(period); ; at += int64(period) {
						for _, edge := range []int64{at - int64(skew), at, at + int64(skew)} {
							ts = append(ts, edge-1, edge, edge+1)
						}
						if at > w.last {
							break
						}
					}
					ts = append(ts, math.MinInt64, math.MaxInt64, 0)
					checkSelect(t, &w, ts, nil, 0)
				}
			}
		}
	}
}

// TestSelectAtTheEndsOfTheRange cuts windows at both ends of int64, where a compare modulo 2^64 would take one end for the other.
func TestSelectAtTheEndsOfTheRange(t *testing.T) {
	// req: C-132, C-017
	for _, c := range []struct{ origin, now int64 }{
		{math.MinInt64, math.MinInt64 + 350}, {math.MinInt64 + 5, math.MinInt64 + 350}, {math.MinInt64 + 20, math.MinInt64 + 99_999},
		{math.MaxInt64 - 305, math.MaxInt64}, {math.MaxInt64 - 320, math.MaxInt64}, {math.MaxInt64 - 99_995, math.MaxInt64},
	} {
		w := window{origin: c.origin, now: c.now, pace: Pace{Period: 100, Skew: 20}}
		var err error
		if w.Window, err = WindowAt(Mapping{LogicalStart: vtime.LogicalFromNS(c.origin), Rate: 1}, w.pace, vtime.LogicalFromNS(c.now)); err != nil {
			t.Fatal(err)
		}
		var ts []int64
		for i := range int64(150) {
			ts = append(ts, math.MinInt64+i, math.MaxInt64-i, w.First().NS()/2+i)
		}
		for _, ns := range ts {
			if got, want := w.Admits(ns), w.oracle(ns); got != want {
				t.Fatalf("%+v: %d is admitted: %v", c, ns, got)
			}
		}
		checkSelect(t, &w.Window, ts, nil, 0)
	}
	// The whole range, from end to end.
	for _, c := range []struct {
		after  int64 // of the origin, from the smallest instant
		period uint64
		skew   uint64
	}{{0, 1, math.MaxUint64}, {0, 1 << 63, 1 << 62}, {0, math.MaxUint64, 1}, {1, math.MaxUint64 - 2, 1}, {1 << 30, math.MaxUint64 - 1<<31, 1 << 30}} {
		p := Pace{c.period, c.skew}
		w, err := WindowAt(Mapping{LogicalStart: vtime.LogicalFromNS(math.MinInt64 + c.after), Rate: 1}, p, vtime.LogicalFromNS(math.MaxInt64))
		if err != nil {
			t.Fatal(err)
		}
		o := window{w, math.MinInt64 + c.after, math.MaxInt64, p}
		for _, ns := range []int64{math.MinInt64, math.MinInt64 + 1, math.MinInt64 + 2, -1 << 62, -1<<62 + 1, -1, 0, 1, 1 << 62, 1<<62 + 1, math.MaxInt64 - 2, math.MaxInt64 - 1, math.MaxInt64} {
			if got, want := w.Admits(ns), o.oracle(ns); got != want {
				t.Errorf("%+v: %d is admitted: %v", p, ns, got)
			}
			checkSelect(t, &w, []int64{ns, ns, ns}, nil, 0)
		}
	}
}

func TestLongColumnsAreReadInPages(t *testing.T) {
	// req: C-130 half: that a group prepares once is the ingestor's
	m := Mapping{LogicalStart: vtime.LogicalFromNS(0), Rate: 1}
	for _, p := range []Pace{{Period: 1000, Skew: 100}, {Period: 1000, Skew: 500}} {
		w, err := WindowAt(m, p, vtime.LogicalFromNS(4_000_000))
		if err != nil {
			t.Fatal(err)
		}
		ts := make([]int64, 9001)
		for i := range ts {
			ts[i] = int64(i) * 447
		}
		valid := make([]byte, 9001/8+2)
		for i := range valid {
			valid[i] = byte(i * 37)
		}
		for _, n := range []int{0, 1, 63, 64, 65, 2047, 2048, 2049, 4096, 8192 + 64, 9001} {
			checkSelect(t, &w, ts[:n], nil, 0)
			checkSelect(t, &w, ts[:n], valid, 3)
		}
	}
}

func TestOldestCentre(t *testing.T) {
	// req: C-126, C-127
	m := Mapping{LogicalStart: vtime.LogicalFromNS(-5000), Rate: 1}
	at := func(position int64) int64 { return -5000 + position*100 }
	for _, c := range []struct {
		now, skew, event int64
		want             bool
	}{
		{at(300), 0, at(300 - 255), true},
		{at(300), 0, at(300 - 256), false},
		{at(300), 7, at(300-255) - 7, true},
		{at(300), 7, at(300-255) - 8, false},
		{at(255), 0, at(0), true},
		{at(256), 0, at(0), false},
		{at(256) - 1, 0, at(0), true},
		{at(3), 7, at(0) - 7, true},
		{at(3), 7, at(0) - 8, false},
		{at(3), 7, at(3) + 7, true},
		{at(3), 7, at(3) + 8, false},
		{at(4) - 1, 60, at(4), false}, // the next centre is a nanosecond away and not eligible
		{at(4) - 1, 60, at(3) + 60, true},
		{at(4), 60, at(4), true},
	} {
		w, err := WindowAt(m, Pace{100, uint64(c.skew)}, vtime.LogicalFromNS(c.now))
		if err != nil {
			t.Fatal(err)
		}
		if got := w.Admits(c.event); got != c.want {
			t.Errorf("now %d skew %d event %d: %v", c.now, c.skew, c.event, got)
		}
	}
}

func TestTimestampNowIsAdmittedWithinSkew(t *testing.T) {
	// req: C-129
	rapid.Check(t, func(t *rapid.T) {
		w := drawWindow(t)
		distance := uint64(w.now) - uint64(w.Last().NS())
		if got := w.Admits(w.Now().NS()); got != (distance <= w.pace.Skew) {
			t.Fatalf("now lies %d after the newest centre, skew %d: %v", distance, w.pace.Skew, got)
		}
	})
}

func TestWindowsWithoutOne(t *testing.T) {
	// req: C-017
	m := Mapping{LogicalStart: vtime.LogicalFromNS(10), Rate: 1}
	if _, err := WindowAt(m, Pace{}, vtime.LogicalFromNS(10)); !errors.Is(err, ErrPace) {
		t.Error(err)
	}
	if _, err := WindowAt(m, Pace{Period: 1}, vtime.LogicalFromNS(9)); !errors.Is(err, ErrReading) {
		t.Error(err)
	}
	var zero Window
	dst := []byte{0xff}
	if zero.Admits(0) || zero.Select(dst, make([]int64, 5), nil, 0) != 0 || dst[0] != 0 {
		t.Error("the zero window admits")
	}
}

func TestSelectAllocatesNothing(t *testing.T) {
	m := Mapping{LogicalStart: vtime.LogicalFromNS(0), Rate: 1}
	w, err := WindowAt(m, Pace{Period: 1000, Skew: 100}, vtime.LogicalFromNS(4_000_000))
	if err != nil {
		t.Fatal(err)
	}
	ts, dst, valid := make([]int64, 1000), make([]byte, 125), make([]byte, 126)
	if n := testing.AllocsPerRun(10, func() { w.Select(dst, ts, valid, 1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
