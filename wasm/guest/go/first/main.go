// SPDX-License-Identifier: Apache-2.0

// Command first is the first guest of README.md: readings of 30 degrees and more go on in Fahrenheit, with the number of hot readings so far.
package main

import (
	"strconv"

	guest "github.com/nervix-go/nervix/wasm/guest/go"
)

func init() { guest.Register(&hot{}) }

func main() {}

const sensor, celsius, at = 0, 1, 2 // the columns of the input

type hot struct {
	guest.Base
	to   *guest.Schema
	seen int64 // hot readings of this branch: the state
}

func (h *hot) Create(_ *guest.Call, init *guest.Init) (err error) {
	if err = init.RequireInput("sensor STRING, celsius F64 OPTIONAL, at DATETIME"); err == nil {
		h.to, err = init.RequireOutput("hot", "sensor STRING, at DATETIME, fahrenheit F64, seen I64")
	}
	return err
}

func (h *hot) ProcessBatch(c *guest.Call, b *guest.Batch) error {
	out := c.Output()
	fahrenheit, seen := out.Generate(h.to, "fahrenheit"), out.Generate(h.to, "seen")
	route := out.Route(h.to).FromInput(sensor, at).FromGenerated(fahrenheit, seen) // the first two stay with the host
	readings := b.Column(celsius)
	route.Map(b, func(row int) guest.Verdict {
		switch {
		case readings.IsNull(row):
			return guest.Errored("row " + strconv.Itoa(row) + " has no temperature")
		case readings.Float64(row) < 30:
			return guest.Acked()
		}
		h.seen++
		fahrenheit.Float64(readings.Float64(row)*9/5 + 32)
		seen.Int64(h.seen)
		return guest.Carried()
	})
	return c.Emit(out)
}

func (h *hot) SaveState(w *guest.StateWriter) error { w.Int64(h.seen); return nil }

func (h *hot) Restore(r *guest.StateReader) error { h.seen = r.Int64(); return r.End() }
