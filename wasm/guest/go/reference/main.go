// SPDX-License-Identifier: Apache-2.0

// Command reference is the reference job of wasm/guest/reference.md; section numbers are those of that page.
package main

import (
	"strconv"

	guest "github.com/nervix-go/nervix/wasm/guest/go"
)

func init() { guest.Register(&job{}) }

func main() {} // a module of callbacks has nothing to run

// Columns of the input.
const (
	sensorColumn = iota
	valueColumn
	atColumn
)

type verdict uint8

const (
	kept verdict = iota
	dropped
	refused
	failed
)

// row is one accepted row; its entry has the same place in job.entries.
type row struct {
	ordinal uint64
	verdict verdict
	label   string
}

// job is section 2. seen is the saved state, all else is gone with the instance.
type job struct {
	seen    uint64
	entries guest.Held
	rows    []row
	batches int
	armed   guest.Timeout

	kept, audit *guest.Schema
}

// Create is section 1.
func (j *job) Create(_ *guest.Call, init *guest.Init) error {
	if !init.Input.Is("sensor STRING, value I64 OPTIONAL, at DATETIME") {
		return guest.Failure("the input schema is not that of the reference job")
	}
	for _, s := range init.Outputs {
		switch {
		case s.Name == "kept" && s.Is("sensor STRING, value I64 OPTIONAL, at DATETIME, ordinal I64"):
			j.kept = s
		case s.Name == "audit" && s.Is("ordinal I64, label STRING, branch STRING OPTIONAL, released DATETIME, note STRING OPTIONAL"):
			j.audit = s
		}
	}
	if len(init.Outputs) != 2 || j.kept == nil || j.audit == nil {
		return guest.Failure("the outputs are not those of the reference job")
	}
	return nil
}

// ProcessBatch is section 3.
func (j *job) ProcessBatch(c *guest.Call, b *guest.Batch) error {
	sensors := b.Column(sensorColumn)
	for i := range b.Rows() {
		switch where := "row " + strconv.Itoa(i) + " of the batch "; string(sensors.Bytes(i)) {
		case "!fail":
			return guest.Failure(where + "asks for a failure")
		case "!report":
			c.ReportGlobalError(where + "reports an error")
			return nil
		case "!trap":
			guest.Trap()
		}
	}
	if b.Rows() == 0 {
		return nil
	}
	if j.entries.Len() == 0 {
		j.armed = c.After(guest.Second)
	}
	for i := range b.Rows() {
		j.accept(b, i)
	}
	if j.batches++; j.batches == 3 {
		return j.Flush(c)
	}
	return nil
}

func (j *job) accept(b *guest.Batch, i int) {
	sensor, value := b.Column(sensorColumn).Bytes(i), b.Column(valueColumn)
	r := row{ordinal: j.seen, verdict: dropped}
	j.seen++
	switch {
	case len(sensor) == 0:
		r.verdict = refused
	case !value.IsNull(i) && value.Int64(i) < 0:
		r.verdict = failed
	case r.ordinal%2 == 0:
		r.verdict, r.label = kept, string(sensor)+"#"+strconv.FormatUint(r.ordinal, 10)
	}
	j.rows = append(j.rows, r)
	j.entries.Hold(b.Entry(i))
}

// OnTimeout is section 5.
func (j *job) OnTimeout(c *guest.Call, t guest.Timeout) error {
	if j.armed.Set() && t == j.armed {
		return j.Flush(c)
	}
	return nil
}

// Flush is the release of section 4.
func (j *job) Flush(c *guest.Call) error {
	if j.entries.Len() == 0 {
		return nil
	}
	out := c.Output()
	ordinal, label := out.Generate(j.audit, "ordinal"), out.Generate(j.audit, "label")
	branch, released := out.Generate(j.audit, "branch"), out.Generate(j.audit, "released")
	toKept := out.Route(j.kept).FromInput(sensorColumn, valueColumn, atColumn).FromGenerated(ordinal)
	out.Route(j.audit).FromGenerated(ordinal, label, branch, released).FromNothing().CarrySame(toKept)
	for i, r := range j.rows {
		e, number := j.entries.Entry(i), strconv.FormatUint(r.ordinal, 10)
		switch r.verdict {
		case kept:
			toKept.Carry(e)
			ordinal.Int64(int64(r.ordinal))
			label.String(r.label)
			if init := c.Init(); init.Branched {
				branch.String(init.BranchKey)
			} else {
				branch.Null()
			}
			released.Time(c.Now())
		case dropped:
			toKept.Ack(e)
		case refused:
			toKept.Nack(e, "row "+number+" has no sensor")
		case failed:
			toKept.MessageError(e, "value of row "+number+" is negative")
		}
	}
	j.entries.Clear()
	j.rows, j.batches, j.armed = j.rows[:0], 0, guest.Timeout{}
	return c.Emit(out)
}

// stateVersion is the first byte of the state.
const stateVersion = 1

// SaveState is section 5.
func (j *job) SaveState(w *guest.StateWriter) error {
	w.Uint8(stateVersion)
	w.Uint64(j.seen)
	return nil
}

// Restore is section 5.
func (j *job) Restore(r *guest.StateReader) error {
	if n := len(r.State()); n != 9 {
		return guest.Failure("the state has " + strconv.Itoa(n) + " bytes instead of 9")
	}
	if v := r.Uint8(); v != stateVersion {
		return guest.Failure("the state has version " + strconv.Itoa(int(v)) + " instead of 1")
	}
	j.seen = r.Uint64()
	return r.End()
}
