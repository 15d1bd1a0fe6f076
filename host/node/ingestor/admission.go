// SPDX-License-Identifier: Apache-2.0

package ingestor

import (
	"math"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/expr/construct"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/node/runtime"
)

// Clock is the execution clock of an ingestor.
type Clock interface {
	runtime.Clock
	// Window is one read that gives the execution snapshot of a group and the window that admits its rows (C-125). paced is false in unpaced domains,
	// whose window is meaningless: they admit every timestamp (C-133).
	Window() (now vtime.Snapshot, window clock.Window, paced bool, err error)
}

// The reasons under which refused rows are counted. ReasonTimestamp: the declared timestamp is null. ReasonLate and ReasonEarly: it lies before the
// earliest, or after the latest, instant that the window admits. ReasonBetween: it lies between them, in a gap that SKEW leaves between two ticks.
const (
	ReasonTimestamp = "timestamp"
	ReasonLate      = "late"
	ReasonEarly     = "early"
	ReasonBetween   = "between"
)

// admit gives every row its event time, low and high watermark alike (nspl 14.2), and lets those pass that have one which the window of the group admits.
// The column is resolved once, and one bitmap selects rows, times and deliveries together (C-130). The others go to the policy of every route and
// disturb nobody (C-131).
func (g *group) admit(l *lanes.Lane, m *message) {
	n := int(m.record.NumRows())
	m.marks = make([]int64, n)
	column := g.timestamps(m)
	if column == nil {
		for k := range m.marks {
			m.marks[k] = g.now.NS()
		}
		if g.paced && !g.window.Admits(g.now.NS()) { // one instant, one answer
			g.refuse(l, m, make([]byte, (n+7)/8), nil)
		}
		return
	}
	for k, v := range column.Values() {
		m.marks[k] = int64(v)
	}
	if !g.paced && column.NullN() == 0 {
		return
	}
	g.admitted = grow(g.admitted, (n+7)/8)
	var valid []byte
	if column.NullN() > 0 {
		valid = column.NullBitmapBytes()
	}
	if count := g.tested().Select(g.admitted, m.marks, valid, column.Data().Offset()); count < n {
		g.refuse(l, m, g.admitted, column)
	}
}

// timestamps is the column that TIMESTAMP AT names; nil where the rows have the time of the group.
func (g *group) timestamps(m *message) *array.Timestamp {
	at := g.i.plan.Timestamp.At
	if !g.i.plan.Timestamp.Declared || g.i.plan.Timestamp.Now || at < 0 {
		return nil
	}
	return m.record.Column(at).(*array.Timestamp)
}

// everything is the window of an unpaced domain, in which only a null is refused.
var everything = func() clock.Window {
	w, err := clock.WindowAt(clock.Mapping{Rate: 1}, clock.Pace{Period: 1, Skew: math.MaxUint64}, vtime.Logical{})
	if err != nil {
		panic(err)
	}
	return w
}()

// tested is the window that the rows of the group are tested against.
func (g *group) tested() *clock.Window {
	if g.paced {
		return &g.window
	}
	return &everything
}

// refuse reports the rows whose bit is clear, and narrows the message to the others. column is nil if the time of the group itself is refused.
func (g *group) refuse(l *lanes.Lane, m *message, admitted []byte, column *array.Timestamp) {
	var failures []runtime.Failure
	why := refusals{window: g.window}
	if column != nil {
		why.field = string(g.i.plan.Codec.Schema.Field(g.i.plan.Timestamp.At).Name)
	}
	for k := range m.marks {
		if admitted[k>>3]>>(k&7)&1 != 0 {
			continue
		}
		null := column != nil && column.IsNull(k)
		f := why.of(m.marks[k], null)
		f.Row = uint32(k)
		failures = append(failures, f)
		if null {
			m.marks[k] = g.now.NS() // what stands under a null is no time
		}
	}
	rows, _ := runtime.RowsOf(admitted, len(m.marks))
	g.report(l, failures, g.source(m, nil), nil, m.rows)
	m.keep(rows, g)
}

// refusals words the refusals of one group. What differs from row to row is a payload value and stays out; each wording is made once.
type refusals struct {
	window clock.Window
	field  string // empty for the time of the group
	made   map[refusal]string
}

// refusal is one wording: a reason, and the factor by which the unit seems wrong.
type refusal struct {
	reason string
	factor string
}

func (r *refusals) of(ns int64, null bool) runtime.Failure {
	f := runtime.Failure{Code: runtime.CodeValidation, Operation: runtime.OpAdmit, Index: construct.NoIndex}
	if r.field != "" {
		f.Fields = []string{"input." + r.field}
	}
	key := r.judge(ns, null)
	text, ok := r.made[key]
	if !ok {
		text = r.text(key)
		if r.made == nil {
			r.made = make(map[refusal]string)
		}
		r.made[key] = text
	}
	f.Class, f.Reason = key.reason, text
	return f
}

func (r *refusals) judge(ns int64, null bool) refusal {
	low, high := r.window.Bounds()
	switch {
	case null:
		return refusal{ReasonTimestamp, ""}
	case r.field != "" && ns < low.NS():
		return refusal{ReasonLate, r.factor(ns)}
	case r.field != "" && ns > high.NS():
		return refusal{ReasonEarly, r.factor(ns)}
	default:
		return refusal{ReasonBetween, ""}
	}
}

// factor finds a timestamp whose unit was mistaken somewhere before us: a thousandfold, or its square or cube, would lie where rows are admitted.
func (r *refusals) factor(ns int64) string {
	low, high := r.window.Bounds()
	in := func(v int64) bool { return v >= low.NS() && v <= high.NS() }
	for n, f := range []int64{1e3, 1e6, 1e9} {
		name := [...]string{"1,000", "1,000,000", "1,000,000,000"}[n]
		if v := ns * f; v/f == ns && ns != 0 && in(v) {
			return "multiplied by " + name
		}
		if in(ns / f) {
			return "divided by " + name
		}
	}
	return ""
}

func (r *refusals) text(key refusal) string {
	low, high := r.window.Bounds()
	now := ", at domain time " + instant(r.window.Now()) + "; "
	var text string
	switch {
	case key.reason == ReasonTimestamp:
		return "the timestamp field `" + r.field + "` is null"
	case r.field == "":
		return "TIMESTAMP NOW, " + instant(r.window.Now()) + ", lies farther behind the newest tick than the SKEW of the domain; with a SKEW of a whole PERIOD every such row is admitted"
	case key.reason == ReasonLate:
		text = "the timestamp field `" + r.field + "` lies before " + instant(low) + ", the earliest instant admitted" + now +
			"send rows sooner, give the domain a larger PERIOD or SKEW, or START it AT an earlier instant"
	case key.reason == ReasonEarly:
		text = "the timestamp field `" + r.field + "` lies after " + instant(high) + ", the latest instant admitted" + now +
			"send rows later, give the domain a larger SKEW, or START it AT a later instant; if it follows the present, look at the clock of the source"
	default:
		return "the timestamp field `" + r.field + "` lies between two ticks, farther from both than the SKEW of the domain; give it a larger SKEW"
	}
	if key.factor != "" {
		text += "; " + key.factor + " it would be admitted, so its unit may be mistaken at the source"
	}
	return text
}

func instant(t vtime.Logical) string { return time.Unix(0, t.NS()).UTC().Format(time.RFC3339Nano) }

func grow(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}
