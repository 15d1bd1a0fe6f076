// SPDX-License-Identifier: Apache-2.0

// Command mirror is a guest for tests of the kit: it reads every value of a batch and writes it again as a generated column, of whatever type.
// Real guests name input columns instead. It has one output with the fields of the input.
package main

import guest "github.com/nervix-go/nervix/wasm/guest/go"

func init() { guest.Register(&mirror{}) }

func main() {}

type mirror struct{ guest.Base }

// Create wants one output with the fields of the input.
func (*mirror) Create(_ *guest.Call, init *guest.Init) error {
	if len(init.Outputs) != 1 || !init.Outputs[0].Is(init.Input.String()) {
		return guest.Failure("one output with the fields of the input is needed")
	}
	return nil
}

// ProcessBatch copies.
func (*mirror) ProcessBatch(c *guest.Call, b *guest.Batch) error {
	out := c.Output()
	to := c.Init().Outputs[0]
	route := out.Route(to)
	for i := range b.Columns() {
		g := out.GenerateAt(to, i)
		for row := range b.Rows() {
			reflect(g, b.Column(i), row)
		}
		route.FromGenerated(g)
	}
	route.CarryAll(b)
	return c.Emit(out)
}

func reflect(to *guest.Generated, from *guest.Column, row int) {
	if from.IsNull(row) {
		to.Null()
		return
	}
	switch from.Type().Kind {
	case guest.U8:
		to.Uint8(from.Uint8(row))
	case guest.I8:
		to.Int8(from.Int8(row))
	case guest.U16:
		to.Uint16(from.Uint16(row))
	case guest.I16:
		to.Int16(from.Int16(row))
	case guest.U32:
		to.Uint32(from.Uint32(row))
	case guest.I32:
		to.Int32(from.Int32(row))
	case guest.U64:
		to.Uint64(from.Uint64(row))
	case guest.I64:
		to.Int64(from.Int64(row))
	case guest.F32:
		to.Float32(from.Float32(row))
	case guest.F64:
		to.Float64(from.Float64(row))
	case guest.Bool:
		to.Bool(from.Bool(row))
	case guest.String:
		to.String(from.String(row))
	case guest.Bytes:
		to.Bytes(from.Bytes(row))
	case guest.Datetime: // through the arithmetic and back: an instant survives it, whatever it is
		to.Time(guest.Epoch.Add(from.Time(row).Sub(guest.Epoch)))
	case guest.Array, guest.Vec:
		elements, first, end := from.List(row)
		list := to.List()
		for i := first; i < end; i++ {
			reflect(list, elements, i)
		}
	}
}
