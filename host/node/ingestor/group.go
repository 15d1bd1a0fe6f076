// SPDX-License-Identifier: Apache-2.0

package ingestor

import (
	"errors"
	"log/slog"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/nervix-go/nervix/host/ack"
	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/codec"
	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/expr/construct"
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/lanes"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/host/node/runtime"
)

// groupRows bounds the messages of one group (nspl 10.5).
const groupRows = 1024

// group is the working memory of the present ingest group.
type group struct {
	i       *Ingestor
	decoder codec.Decoder

	batch arrow.RecordBatch
	now   vtime.Logical
	// window admits the rows of a paced domain; paced is false where there is none.
	window   clock.Window
	paced    bool
	admitted []byte // a bit by row of the message
	// clockless says that the clock could not be read for the last group.
	clockless bool
	tokens    []uint64 // by row of batch, from first on
	first     int
	good      []int32 // rows of batch that are no source errors
	text      []byte
	touched   []*keyed

	again    int
	rejected map[string]uint64
}

func (g *group) init(i *Ingestor) {
	g.i = i
	g.decoder = i.plan.Codec.NewDecoder()
	g.rejected = make(map[string]uint64)
}

// reject counts rows that did not pass, once for each route that reports them.
func (i *Ingestor) reject(class string, rows int) { i.group.rejected[class] += uint64(rows) }

// run takes up rows from..to of a source batch: decode, timestamp, filter, routes.
func (g *group) run(l *lanes.Lane, in arrow.RecordBatch, from, to int) {
	g.batch, g.first, g.again = in, from, 0
	g.arrive(from, to)
	filtered := 0
	snapshot, window, paced, err := g.i.config.Clock.Window()
	if err != nil {
		why := g.i.clockFailure(err)
		for _, t := range g.tokens {
			g.i.window.Fail(t, why, false, l.Now())
		}
		g.unreadable(err, why)
		return
	}
	if g.clockless {
		g.clockless = false
		g.i.stats.setTransient("")
	}
	g.now, g.window, g.paced = snapshot.Now, window, paced
	payloads := in.Column(connector.SourcePayload).(*array.Binary)
	decoded, err := g.decoder.Decode(g.i.config.Alloc, payloads, g.good)
	if err != nil {
		for _, t := range g.tokens {
			g.i.window.Fail(t, err, false, l.Now())
		}
		g.i.stats.setTransient(err.Error())
		return
	}
	g.undecodable(l, decoded.Rejects)
	if rows := decoded.Len(); rows > 0 {
		filtered = g.messages(l, decoded)
	} else {
		decoded.Release()
	}
	for _, t := range g.tokens {
		g.i.window.Seal(t)
	}
	g.i.stats.count(to-from, g.again, filtered, g.rejected)
	clear(g.rejected)
	g.batch = nil
}

// unreadable tells that the clock cannot be read: DESCRIBE as long as it lasts, the log once. The end of a generation is no failure.
func (g *group) unreadable(err, why error) {
	over := errors.Is(err, clock.ErrStopped) || errors.Is(err, clock.ErrStale) || errors.Is(err, clock.ErrMissing)
	if !over && !g.clockless && g.i.plan.GeneralLog {
		g.i.config.Log.Warn("the domain clock cannot be read; deliveries wait", "ingestor", g.i.plan.Ref.Name, "domain", g.i.plan.Ref.Domain, "error", err) // C-147
	}
	g.clockless = true
	g.i.stats.setTransient(why.Error())
}

// arrive gives every row the token of its delivery.
func (g *group) arrive(from, to int) {
	positions := g.batch.Column(connector.SourcePosition).(*array.Binary)
	faulty := g.batch.Column(connector.SourceError)
	g.tokens, g.good = g.tokens[:0], g.good[:0]
	for row := from; row < to; row++ {
		token, again := g.i.window.Arrive(positions.Value(row))
		if again {
			g.again++
		}
		g.tokens = append(g.tokens, token)
		if faulty.IsNull(row) {
			g.good = append(g.good, int32(row))
		}
	}
}

// undecodable reports payloads that are no messages to the policy of every route (nspl 9.4, Q50).
func (g *group) undecodable(l *lanes.Lane, rejects []codec.Reject) {
	if len(rejects) == 0 && len(g.good) == len(g.tokens) {
		return
	}
	var failures []runtime.Failure
	faulty := g.batch.Column(connector.SourceError).(*array.String)
	next := 0
	for n := range g.tokens {
		row := g.first + n
		switch {
		case faulty.IsValid(row):
			failures = append(failures, g.failure(row, strings.Clone(faulty.Value(row)), "source")) // outlives the batch
		case next < len(rejects) && int(rejects[next].Row) == row:
			failures = append(failures, g.failure(row, rejects[next].Text, rejects[next].Reason.String()))
			next++
		}
	}
	src := runtime.Source{Metadata: g.metadata(), Now: g.now}
	g.report(l, failures, src, nil, nil)
}

// failure describes an undecodable row; place is where the source says it stands.
func (g *group) failure(row int, text, class string) runtime.Failure {
	return runtime.Failure{
		Row: uint32(row), Code: runtime.CodeValidation, Operation: runtime.OpDecode, Index: construct.NoIndex, Reason: g.place(row) + text, Class: class,
	}
}

// place names the row by its metadata, for example `line 7, offset 512: `.
func (g *group) place(row int) string {
	schema := g.i.plan.Source.Metadata
	if schema == nil {
		return ""
	}
	var text string
	for _, name := range []string{"line", "offset"} {
		c, ok := schema.Index(identName(name))
		if !ok || connector.SourceMetadata+c >= int(g.batch.NumCols()) {
			continue
		}
		if text != "" {
			text += ", "
		}
		text += name + " " + g.batch.Column(connector.SourceMetadata+c).ValueStr(row)
	}
	if text == "" {
		return ""
	}
	return text + ": "
}

func (g *group) metadata() []arrow.Array {
	schema := g.i.plan.Source.Metadata
	if schema == nil {
		return nil
	}
	out := make([]arrow.Array, schema.Len())
	for c := range out {
		out[c] = g.batch.Column(connector.SourceMetadata + c)
	}
	return out
}

// report hands failures to one route, or to all of them when route is nil. rows maps a failure's row to the row of the source batch; nil: the same.
func (g *group) report(l *lanes.Lane, failures []runtime.Failure, src runtime.Source, only *route, rows []int32) {
	if len(failures) == 0 {
		return
	}
	tokens := make([]uint64, len(failures))
	for n, f := range failures {
		row := int(f.Row)
		if rows != nil {
			row = int(rows[f.Row])
		}
		tokens[n] = g.tokens[row-g.first]
	}
	first := g.countFirst(failures, tokens)
	answers := tokenAnswers{i: g.i, tokens: tokens}
	w := g.i.config.Benches.At(l)
	for _, r := range g.i.routes {
		if only != nil && r != only {
			continue
		}
		f := *r.faults
		f.Count = func(string, int) {} // counted above: once a payload, however many routes report it and however often it comes again
		if !first {
			f.Log = quiet
		}
		f.Report(l, w, failures, src, answers)
	}
}

// quiet takes the lines of deliveries that failed before: one line tells a failure, and one more that the source is blocked by it.
var quiet = slog.New(slog.DiscardHandler)

// countFirst counts the failures of first deliveries and says whether there is one.
func (g *group) countFirst(failures []runtime.Failure, tokens []uint64) (any bool) {
	for n, f := range failures {
		if ack.Attempt(tokens[n]) == 0 {
			g.i.reject(f.Class, 1)
			any = true
		}
	}
	return any
}

// messages works the decoded rows and returns how many the filter left out.
func (g *group) messages(l *lanes.Lane, d codec.Decoded) (filtered int) {
	record := array.NewRecordBatch(g.i.plan.Codec.Schema.Arrow(), d.Columns, int64(d.Len()))
	d.Release()
	work := message{record: record, rows: d.Rows, metadata: g.pickMetadata(d.Rows)}
	defer work.release()
	if g.admit(l, &work); work.record.NumRows() == 0 {
		return 0
	}
	filtered = g.filter(l, &work)
	if work.record.NumRows() == 0 {
		return filtered
	}
	w := g.i.config.Benches.At(l)
	for _, r := range g.i.routes {
		w.Begin(work.record, nil, g.now)
		w.Env.Columns[expr.RecordMetadata] = work.metadata
		g.route(l, w, r, &work)
		w.End()
	}
	return filtered
}

// message is the decoded rows of the group on their way to the routes. It owns its record and metadata.
type message struct {
	record   arrow.RecordBatch
	rows     []int32 // row of the source batch by row of record
	metadata []arrow.Array
	marks    []int64
}

func (m *message) release() {
	m.record.Release()
	m.releaseMetadata()
}

func (m *message) releaseMetadata() {
	for _, c := range m.metadata {
		c.Release()
	}
	m.metadata = nil
}

// pickMetadata aligns the metadata columns with decoded rows.
func (g *group) pickMetadata(rows []int32) []arrow.Array {
	columns := g.metadata()
	if columns == nil {
		return nil
	}
	out := make([]arrow.Array, len(columns))
	contiguous := len(rows) > 0 && int(rows[len(rows)-1]-rows[0])+1 == len(rows)
	for c, column := range columns {
		if contiguous {
			out[c] = array.NewSlice(column, int64(rows[0]), int64(rows[len(rows)-1])+1)
		} else {
			out[c] = batch.TakeColumn(column, rows, g.i.config.Alloc)
		}
	}
	return out
}
