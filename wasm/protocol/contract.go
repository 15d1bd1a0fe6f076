// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// Route is one declared destination of a processor.
type Route struct {
	Relay  ident.Name
	Schema *types.Schema
}

// Contract is what the declaration of one processor asks of the outputs of its guests. It keeps the reader of the last generated schema, so
// it belongs to one caller at a time: one for each lane, not one for each branch.
type Contract struct {
	input  *types.Schema
	routes []Route
	pool   poolReader
	output Output   // of the running Decode
	free   []*Group // released ones
}

// NewContract prepares the checks for a processor. All routes name different relays.
func NewContract(input *types.Schema, routes []Route) *Contract {
	return &Contract{input: input, routes: routes}
}

// Group is one output envelope that fits its processor: the unit that shares a generated batch.
type Group struct {
	// Generated is the common generated batch; nil if the envelope has none. The group owns it; see Release.
	Generated arrow.RecordBatch
	// Outputs are the routed outputs in the order of the guest.
	Outputs []Bound
	// UsesInput says that some output of the envelope has an input column, so that every row of all of them needs a source token (W-088).
	UsesInput bool

	home       *Contract      // where it goes when it is released; nil for a group of Bind
	message    *memory.Buffer // of Decode; held until it is released
	columns    []Column       // of all outputs
	selections []Selection
	list       [][]Selection
}

// Bound is a routed output whose columns were matched with the destination.
type Bound struct {
	// Route is the index of the destination among the routes of the contract.
	Route   int
	Columns []Column
	Acks    Sidecar
}

// Release gives the generated batch back. Columns that were retained stay valid. A group of Decode, and what Check said of it, must not be used afterwards.
func (g *Group) Release() {
	if g.Generated != nil {
		g.Generated.Release()
		g.Generated = nil
	}
	if g.message != nil {
		g.message.Release()
		g.message = nil
	}
	c := g.home
	if g.home = nil; c == nil || len(c.free) == maxFree || cap(g.columns) > maxKept || cap(g.Outputs) > maxKept {
		return
	}
	clear(g.Outputs) // views of the message
	clear(g.selections)
	clear(g.list)
	c.free = append(c.free, g)
}

// What a contract keeps for reuse: the groups of usual callbacks.
const (
	maxFree = 16
	maxKept = 256
)

// Decode is DecodeOutput and Bind for a caller that is done with a group once it released it: little is allocated for a usual message. The group holds the
// message until then, and columns that were retained hold it longer. Faults: wasm.message, wasm.columns, wasm.arrow.
func (c *Contract) Decode(message *memory.Buffer) (*Group, error) {
	if err := c.output.decode(message.Bytes()); err != nil {
		return nil, err
	}
	var g *Group
	if n := len(c.free); n > 0 {
		g = c.free[n-1]
		c.free = c.free[:n-1]
		g.UsesInput = false
	} else {
		g = &Group{}
	}
	message.Retain()
	g.home, g.message = c, message
	err := c.bind(&c.output, g)
	clear(c.output.Routed)
	c.output.Generated = nil
	if cap(c.output.Routed) > maxKept {
		c.output.Routed = nil
	}
	if err != nil {
		g.Release()
		return nil, err
	}
	return g, nil
}

func badColumns(format string, args ...any) error {
	return refuse(fault.WasmColumns, "Bind", fmt.Sprintf(format, args...), nil)
}

// Bind matches an output with the processor: relays, column counts, exact types, the generated batch and its use (W-049, W-063 to W-078).
// Tokens are not looked at. The group shares the memory of the message. Faults: wasm.columns, wasm.arrow.
func (c *Contract) Bind(o *Output) (*Group, error) {
	g := &Group{}
	if err := c.bind(o, g); err != nil {
		g.Release()
		return nil, err
	}
	return g, nil
}

func (c *Contract) bind(o *Output, g *Group) error {
	if len(o.Routed) == 0 {
		return badColumns("the output group has no outputs")
	}
	var use poolUse
	if err := c.resolve(o, g, &use); err != nil {
		return err
	}
	return c.generated(o, g, &use)
}

// resolve finds the destinations and judges all columns but the generated ones.
func (c *Contract) resolve(o *Output, g *Group, use *poolUse) error {
	total := 0
	for i := range o.Routed {
		route, err := c.route(&o.Routed[i])
		if err != nil {
			return err
		}
		total += c.routes[route].Schema.Len()
	}
	columns := slices.Grow(g.columns[:0], total)
	g.columns = columns
	g.Outputs = slices.Grow(g.Outputs[:0], len(o.Routed))[:len(o.Routed)]
	for i := range o.Routed {
		from, to := &o.Routed[i], &g.Outputs[i]
		to.Route, _ = c.route(from)
		to.Acks = from.Acks
		first := len(columns)
		for field := range from.Columns() {
			column := from.Column(field)
			if err := c.column(g, use, i, field, column); err != nil {
				return err
			}
			columns = append(columns, column)
		}
		to.Columns = columns[first:len(columns):len(columns)]
	}
	return nil
}

// route finds the destination of an output, which has one column for each of its fields.
func (c *Contract) route(o *Routed) (int, error) {
	for i := range c.routes {
		if string(c.routes[i].Relay) != string(o.Relay) {
			continue
		}
		if want := c.routes[i].Schema.Len(); o.Columns() != want {
			return 0, badColumns("the routed output for relay %s has %d columns, the relay has %d fields", c.routes[i].Relay, o.Columns(), want)
		}
		return i, nil
	}
	// The name is not shown: it is bytes of a guest, and a payload may stand where a name should.
	return 0, badColumns("a routed output names a relay that the processor does not declare")
}

func (c *Contract) column(g *Group, use *poolUse, output, field int, column Column) error {
	route := &c.routes[g.Outputs[output].Route]
	want := route.Schema.Field(field)
	switch column.Source {
	case Input:
		if int64(column.Index) >= int64(c.input.Len()) {
			return badColumns("field %s of relay %s takes input column %d, the input has %d", want.Name, route.Relay, column.Index, c.input.Len())
		}
		if have := c.input.Field(int(column.Index)); !have.SameShape(want) {
			return badColumns("field %s of relay %s is %s, input column %s is %s", want.Name, route.Relay, shape(want), have.Name, shape(have))
		}
		g.UsesInput = true
	case Generated:
		use.columns = max(use.columns, int64(column.Index)+1)
	}
	return nil
}

func shape(f types.Field) string {
	if f.Optional {
		return f.Type.String() + " OPTIONAL"
	}
	return f.Type.String()
}
