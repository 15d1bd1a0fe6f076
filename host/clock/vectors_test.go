// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

var rewrite = flag.Bool("rewrite", false, "make testdata/vectors.jsonl again, from rationals, not from the code under test")

const vectorFile = "testdata/vectors.jsonl"

// vector is one line of the conformance set; testdata/README.md describes it.
type vector struct {
	Op       string `json:"op"`
	Anchor   string `json:"wall_started_at_ns,omitempty"`
	Origin   string `json:"logical_start_ns,omitempty"`
	RateBits string `json:"time_rate_bits,omitempty"`
	Rate     string `json:"time_rate,omitempty"`
	Period   string `json:"period_ns,omitempty"`
	Skew     string `json:"skew_ns,omitempty"`
	UTC      string `json:"utc_ns,omitempty"`
	Now      string `json:"now_ns,omitempty"`
	Target   string `json:"target_ns,omitempty"`
	ID       string `json:"id,omitempty"`
	Event    string `json:"event_ns,omitempty"`

	Error    string `json:"error,omitempty"`
	Logical  string `json:"logical_ns,omitempty"`
	Wait     string `json:"wait_ns,omitempty"`
	Boundary string `json:"boundary_ns,omitempty"`
	Frontier string `json:"frontier,omitempty"`
	First    string `json:"first_ns,omitempty"`
	Last     string `json:"last_ns,omitempty"`
	Admitted *bool  `json:"admitted,omitempty"`
}

func number[T int64 | uint64](t *testing.T, s string) T {
	t.Helper()
	var zero T
	if s == "" {
		return zero
	}
	n, ok := new(big.Int).SetString(s, 10)
	if !ok || !n.IsInt64() && !n.IsUint64() {
		t.Fatalf("%q is not a number", s)
	}
	if n.IsInt64() {
		return T(n.Int64())
	}
	return T(n.Uint64())
}

func (v vector) mapping(t *testing.T) Mapping {
	bits, err := strconv.ParseUint(v.RateBits, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return Mapping{vtime.UTCFromNS(number[int64](t, v.Anchor)), vtime.LogicalFromNS(number[int64](t, v.Origin)), math.Float64frombits(bits)}
}

// answer fills in what the code under test says.
func (v vector) answer(t *testing.T) vector {
	t.Helper()
	m := v.mapping(t)
	p := Pace{number[uint64](t, v.Period), number[uint64](t, v.Skew)}
	now := vtime.LogicalFromNS(number[int64](t, v.Now))
	var err error
	switch v.Op {
	case "at":
		var at vtime.Logical
		if at, err = m.At(vtime.UTCFromNS(number[int64](t, v.UTC))); err == nil {
			v.Logical = fmt.Sprint(at.NS())
		}
	case "wait":
		var wait int64
		d, e := m.Wait(now, vtime.LogicalFromNS(number[int64](t, v.Target)))
		if wait, err = int64(d), e; err == nil {
			v.Wait = fmt.Sprint(wait)
		}
	case "boundary":
		var tick Tick
		if tick, err = Boundary(m, p, number[uint64](t, v.ID)); err == nil {
			v.Boundary = fmt.Sprint(tick.Boundary.NS())
		}
	case "latest_due":
		var tick Tick
		if tick, _, err = LatestDue(m, p, now); err == nil {
			v.ID, v.Boundary = fmt.Sprint(tick.ID), fmt.Sprint(tick.Boundary.NS())
		}
	case "admits":
		var w Window
		if w, err = WindowAt(m, p, now); err == nil {
			admitted := w.Admits(number[int64](t, v.Event))
			v.Frontier, v.First, v.Last, v.Admitted = fmt.Sprint(w.Frontier()), fmt.Sprint(w.First().NS()), fmt.Sprint(w.Last().NS()), &admitted
		}
	default:
		t.Fatalf("unknown op %q", v.Op)
	}
	if err != nil {
		v.Error = string(fault.CodeOf(err))
	}
	return v
}

func (v vector) question() vector {
	v.Error, v.Logical, v.Wait, v.Boundary, v.Frontier, v.First, v.Last, v.Admitted = "", "", "", "", "", "", "", nil
	if v.Op == "latest_due" {
		v.ID = ""
	}
	return v
}

func TestConformanceVectors(t *testing.T) {
	// req: C-013, C-016, C-017, C-053, C-126, C-127
	// req: C-216 half: long campaigns and their report are CI's
	// req: C-111 half: each client library runs the same file
	if *rewrite {
		writeVectors(t)
	}
	text, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	lines, ops := 0, map[string]int{}
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); lines++ {
		var v vector
		if err := json.Unmarshal(s.Bytes(), &v); err != nil {
			t.Fatalf("line %d: %v", lines+1, err)
		}
		ops[v.Op]++
		got, err := json.Marshal(v.question().answer(t))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, s.Bytes()) {
			t.Errorf("line %d\ngot  %s\nwant %s", lines+1, got, s.Bytes())
		}
	}
	for _, op := range []string{"at", "wait", "boundary", "latest_due", "admits"} {
		if ops[op] < 100 {
			t.Errorf("%d vectors of %s", ops[op], op)
		}
	}
}

// pool draws the numbers of the vectors: the ends of the ranges, and everything between.
type pool struct{ r *rand.Rand }

func (p pool) instant() int64 {
	switch p.r.IntN(6) {
	case 0:
		return math.MaxInt64 - p.r.Int64N(3)
	case 1:
		return math.MinInt64 + p.r.Int64N(3)
	case 2:
		return p.r.Int64N(7) - 3
	case 3:
		return int64(p.r.Uint64())
	default:
		return 1_700_000_000_000_000_000 + p.r.Int64N(1e17) - p.r.Int64N(2e18)*p.r.Int64N(2)
	}
}

func (p pool) length() uint64 {
	switch p.r.IntN(5) {
	case 0:
		return p.r.Uint64N(9)
	case 1:
		return math.MaxUint64 - p.r.Uint64N(3)
	case 2:
		return 1<<p.r.UintN(64) + p.r.Uint64N(3) - 1
	default:
		return p.r.Uint64N(1e13)
	}
}

func (p pool) rate() float64 {
	fixed := []float64{1, 2, 0.5, 60, 1e-6, 1e6, 0.1, 1.0 / 3, math.Pi, 1728000, math.SmallestNonzeroFloat64, math.MaxFloat64, 0x1p-1022, math.Nextafter(1, 0), math.Nextafter(1, 2)}
	switch p.r.IntN(3) {
	case 0:
		return fixed[p.r.IntN(len(fixed))]
	case 1:
		return math.Ldexp(1+p.r.Float64(), p.r.IntN(260)-130)
	default:
		return math.Pow(10, p.r.Float64()*12-6)
	}
}

func writeVectors(t *testing.T) {
	p := pool{rand.New(rand.NewPCG(4, 2))}
	var out bytes.Buffer
	for i := range 1500 {
		m := Mapping{vtime.UTCFromNS(p.instant()), vtime.LogicalFromNS(p.instant()), p.rate()}
		v := vector{Op: []string{"at", "wait", "boundary", "latest_due", "admits"}[i%5], RateBits: fmt.Sprintf("%016x", math.Float64bits(m.Rate)), Rate: strconv.FormatFloat(m.Rate, 'g', -1, 64)}
		v.Anchor, v.Origin = fmt.Sprint(m.WallStartedAt.NS()), fmt.Sprint(m.LogicalStart.NS())
		line, err := json.Marshal(p.oracle(v, m))
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	if err := os.WriteFile(vectorFile, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// oracle draws the rest of a question and answers it in rationals.
func (p pool) oracle(v vector, m Mapping) vector {
	set := func(to *string, n *big.Int, code fault.Code) {
		if n.IsInt64() {
			*to = n.String()
		} else {
			v.Error = string(code)
		}
	}
	period, skew := max(p.length(), 1), p.length()
	reached := big.NewInt(p.r.Int64N(600))
	now := sum(bigOf(m.LogicalStart.NS()), sum(new(big.Int).Mul(reached, bigOfU(period)), big.NewInt(p.r.Int64N(3)-1)))
	if now.Cmp(bigOf(m.LogicalStart.NS())) < 0 || !now.IsInt64() {
		now = bigOf(max(p.instant(), m.LogicalStart.NS()))
	}
	index := new(big.Int).Div(diff(now.Int64(), m.LogicalStart.NS()), bigOfU(period))
	at := func(k *big.Int) *big.Int {
		return sum(bigOf(m.LogicalStart.NS()), new(big.Int).Mul(k, bigOfU(period)))
	}
	one := big.NewInt(1)
	switch v.Op {
	case "at":
		utc := p.instant()
		if p.r.IntN(2) == 0 && m.WallStartedAt.NS() < 1e18 {
			utc = m.WallStartedAt.NS() + p.r.Int64N(1e16) - 100
		}
		v.UTC = fmt.Sprint(utc)
		set(&v.Logical, exactAt(m, utc), fault.ClockRange)
	case "wait":
		from, to := p.instant(), p.instant()
		if p.r.IntN(2) == 0 && from < 1e18 {
			to = from + p.r.Int64N(1e16)
		}
		v.Now, v.Target = fmt.Sprint(from), fmt.Sprint(to)
		set(&v.Wait, ceil(over(rat(diff(max(from, to), from)), ratOf(m.Rate))), fault.ClockUnschedulable)
	case "boundary":
		id := max(p.length(), 1)
		v.Period, v.ID = fmt.Sprint(period), fmt.Sprint(id)
		set(&v.Boundary, at(new(big.Int).Sub(bigOfU(id), one)), fault.ClockRange)
	case "latest_due":
		v.Period, v.Now = fmt.Sprint(period), now.String()
		if id := sum(index, one); id.IsUint64() {
			v.ID, v.Boundary = id.String(), at(index).String()
		} else {
			v.Error = string(fault.ClockRange)
		}
	case "admits":
		oldest := new(big.Int).Sub(index, big.NewInt(255))
		if oldest.Sign() < 0 {
			oldest.SetInt64(0)
		}
		k := sum(oldest, big.NewInt(p.r.Int64N(min(new(big.Int).Sub(index, oldest).Int64()+3, 260))-1))
		if p.r.IntN(3) > 0 {
			skew = min(skew, period/2-min(period/2, p.r.Uint64N(3)))
		}
		event := sum(at(k), new(big.Int).Mul(bigOfU(skew), big.NewInt(p.r.Int64N(3)-1)))
		if event.Add(event, big.NewInt(p.r.Int64N(3)-1)); !event.IsInt64() {
			event = bigOf(p.instant())
		}
		w := window{origin: m.LogicalStart.NS(), now: now.Int64(), pace: Pace{period, skew}}
		admitted := w.oracle(event.Int64())
		v.Period, v.Skew, v.Now, v.Event = fmt.Sprint(period), fmt.Sprint(skew), now.String(), event.String()
		v.Frontier, v.First, v.Last, v.Admitted = index.String(), at(oldest).String(), at(index).String(), &admitted
	}
	return v
}
