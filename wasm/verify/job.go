// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// jobModel is the reference job of wasm/guest/reference.md, told in the text form of render.go.
type jobModel struct {
	key     string
	seen    uint64
	buffer  []jobRow
	batches int
	armed   int64
	handles int64 // handed out so far
}

// jobRow is one accepted row.
type jobRow struct {
	token   uint64 // counted from firstToken
	ordinal uint64
	verdict jobVerdict
	label   string
	input   string // the values of the three input columns, as render shows them
}

type jobVerdict uint8

const (
	jobKept jobVerdict = iota
	jobDropped
	jobRefused
	jobFailed
)

// jobInput is one row of a batch; a nil value is null.
type jobInput struct {
	sensor string
	value  *int64
	at     int64
}

func jobBatch(s *Schemas, rows []jobInput) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, s.Input.Arrow())
	defer b.Release()
	for _, r := range rows {
		b.Field(0).(*array.StringBuilder).Append(r.sensor)
		if r.value == nil {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.Int64Builder).Append(*r.value)
		}
		b.Field(2).(*array.TimestampBuilder).Append(arrow.Timestamp(r.at))
	}
	return b.NewRecordBatch()
}

// accept takes a batch without commands whose rows have the tokens from first on. It tells what is emitted, and whether a timeout is asked for.
func (m *jobModel) accept(batch arrow.RecordBatch, first uint64, now int64) (said string, asks bool) {
	if batch.NumRows() == 0 {
		return "", false
	}
	sensors, numbers := batch.Column(0).(*array.String), batch.Column(1).(*array.Int64)
	if asks = len(m.buffer) == 0; asks {
		m.handles++
		m.armed = m.handles
	}
	for i := range int(batch.NumRows()) {
		r := jobRow{token: first + uint64(i) - firstToken, ordinal: m.seen, verdict: jobDropped}
		for c := range 3 {
			r.input += " " + value(batch.Column(c), i)
		}
		switch {
		case sensors.Value(i) == "":
			r.verdict = jobRefused
		case !numbers.IsNull(i) && numbers.Value(i) < 0:
			r.verdict = jobFailed
		case m.seen%2 == 0:
			r.verdict, r.label = jobKept, fmt.Sprintf("%s#%d", sensors.Value(i), m.seen)
		}
		m.buffer = append(m.buffer, r)
		m.seen++
	}
	if m.batches++; m.batches == 3 {
		return m.release(now), asks
	}
	return "", asks
}

func (m *jobModel) release(now int64) string {
	if len(m.buffer) == 0 {
		return ""
	}
	var kept, dropped []jobRow
	var b, decisions strings.Builder
	for _, r := range m.buffer {
		switch r.verdict {
		case jobKept:
			kept = append(kept, r)
		case jobDropped:
			dropped = append(dropped, r)
		}
	}
	b.WriteString("envelope\n")
	m.generated(&b, kept, now)
	b.WriteString("  kept: input 0 input 1 input 2 generated 0\n")
	for _, r := range kept {
		fmt.Fprintf(&b, "    row [%d] <- %d%s\n", r.token, r.token, r.input)
	}
	if len(dropped) > 0 {
		all := make([]string, len(dropped))
		for i, r := range dropped {
			all[i] = fmt.Sprint(r.token)
		}
		fmt.Fprintf(&b, "    acked [%s]\n", strings.Join(all, " "))
	}
	for _, r := range m.buffer {
		if r.verdict == jobRefused {
			fmt.Fprintf(&b, "    nacked [%d] %q\n", r.token, fmt.Sprintf("row %d has no sensor", r.ordinal))
		}
		if r.verdict == jobFailed {
			fmt.Fprintf(&decisions, "    message error [%d] %q\n", r.token, fmt.Sprintf("value of row %d is negative", r.ordinal))
		}
	}
	b.WriteString(decisions.String())
	b.WriteString("  audit: generated 0 generated 1 generated 2 generated 3 uninitialized 0\n")
	for _, r := range kept {
		fmt.Fprintf(&b, "    row [%d] <- %d\n", r.token, r.token)
	}
	m.buffer, m.batches, m.armed = nil, 0, 0
	return b.String()
}

// generated tells the four generated columns.
func (m *jobModel) generated(b *strings.Builder, kept []jobRow, now int64) {
	audit := jobOwn.Routes[1].Schema.Arrow()
	build := array.NewRecordBuilder(memory.DefaultAllocator, audit)
	defer build.Release()
	for _, r := range kept {
		build.Field(0).(*array.Int64Builder).Append(int64(r.ordinal))
		build.Field(1).(*array.StringBuilder).Append(r.label)
		if m.key == "" {
			build.Field(2).AppendNull()
		} else {
			build.Field(2).(*array.StringBuilder).Append(m.key)
		}
		build.Field(3).(*array.TimestampBuilder).Append(arrow.Timestamp(now))
		build.Field(4).AppendNull()
	}
	all := build.NewRecordBatch()
	for i := range 4 {
		f := audit.Field(i)
		fmt.Fprintf(b, "  generated %d %s nullable=%t: %s\n", i, f.Type, f.Nullable, values(all.Column(i)))
	}
}

// jobOwn are the schemas of the job.
var jobOwn = own[0].schemas

func (m *jobModel) timeout(handle, now int64) string {
	if handle != m.armed || m.armed == 0 {
		return ""
	}
	return m.release(now)
}

func (m *jobModel) state() []byte { return binary.LittleEndian.AppendUint64([]byte{1}, m.seen) }

// successor is the model of an instance that took over the state.
func (m *jobModel) successor() *jobModel {
	return &jobModel{key: m.key, seen: m.seen, handles: m.handles}
}
