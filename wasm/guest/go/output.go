// SPDX-License-Identifier: Apache-2.0

package guest

import "github.com/nervix-go/nervix/wasm/guest/go/internal/flat"

// Output is one envelope: routes whose rows agree, with one generated batch that they share. Make it with Call.Output, send it with Call.Emit. Outputs
// whose rows differ are outputs of their own.
type Output struct {
	init    *Init
	routes  []*Route
	columns []*Generated
	wrong   string // the first mistake

	// What earlier outputs were made of, to be used again: a guest makes the same output for each batch.
	oldRoutes  []*Route
	oldColumns []*Generated
}

// reset makes an output as good as new.
func (o *Output) reset() {
	o.oldRoutes, o.oldColumns = append(o.oldRoutes, o.routes...), append(o.oldColumns, o.columns...)
	o.routes, o.columns, o.wrong = o.routes[:0], o.columns[:0], ""
}

func (o *Output) mistake(what string) {
	if o.wrong == "" {
		o.wrong = what
	}
}

// Generate makes a column with the type of a field of an output. Any route may use it, in several fields: make it once (W-245).
func (o *Output) Generate(to *Schema, field string) *Generated {
	i := to.Find(field)
	if i < 0 {
		Panic(to.Name + " has no field " + field)
	}
	return o.GenerateAt(to, i)
}

// GenerateAt is Generate for a field by its number.
func (o *Output) GenerateAt(to *Schema, field int) *Generated {
	f := &to.Fields[field]
	g := o.column(f)
	g.index = uint32(len(o.columns))
	o.columns = append(o.columns, g)
	return g
}

// column is a new column for a field, or an old one of the same type.
func (o *Output) column(f *Field) *Generated {
	for i, g := range o.oldColumns {
		if g.typ == f.Type && g.optional == f.Optional {
			last := len(o.oldColumns) - 1
			o.oldColumns[i] = o.oldColumns[last]
			o.oldColumns = o.oldColumns[:last]
			g.reset()
			return g
		}
	}
	return newGenerated(o, f.Type, f.Optional)
}

// Route begins what goes to a relay, one of Init.Outputs.
func (o *Output) Route(to *Schema) *Route {
	r := &Route{}
	if n := len(o.oldRoutes); n > 0 {
		r = o.oldRoutes[n-1]
		o.oldRoutes = o.oldRoutes[:n-1]
		*r = Route{columns: r.columns[:0], acked: r.acked[:0], nacked: r.nacked[:0], failed: r.failed[:0], records: flat.Writer{B: r.records.B[:0]}}
	}
	r.owner, r.to = o, to
	o.routes = append(o.routes, r)
	return r
}

// source says where a column of a route comes from, as on the wire.
type source uint8

const (
	fromInput source = iota
	fromGenerated
	uninitialized
)

type columnRef struct {
	source source
	index  uint32
}

// Route is what goes to one relay: columns, rows, and what becomes of the inputs that no row carries.
type Route struct {
	owner      *Output
	to         *Schema
	columns    []columnRef
	rows       uint32
	sourceless bool
	records    flat.Writer // the tables of the rows as they go into the message, but for the distance to their vtable
	same       *Route      // the rows of this route instead
	acked      []uint64
	nacked     []decision
	failed     []decision

	rowsAt, sidecarAt uint32 // in the message
}

// decision is one set of tokens with a reason.
type decision struct {
	tokens []uint64
	reason string
}

// add is the next column, which is the next field of the relay. The methods below name the columns in the order of the fields; they can be chained.
func (r *Route) add(s source, index uint32, typ *Type, optional bool) {
	i := len(r.columns)
	if i >= len(r.to.Fields) {
		r.owner.mistake("a route has more columns than its relay has fields")
		return
	}
	if f := &r.to.Fields[i]; typ != nil && (f.Optional != optional || !f.Type.Equal(typ)) {
		r.owner.mistake("a column has another type or nullability than its field")
	}
	r.columns = append(r.columns, columnRef{s, index})
}

// FromInput takes columns of the input by their numbers. The host has their values: they are named, never copied.
func (r *Route) FromInput(columns ...int) *Route {
	for _, c := range columns {
		if c < 0 || c >= len(r.owner.init.Input.Fields) {
			r.owner.mistake("a route takes a column that the input does not have")
			continue
		}
		f := &r.owner.init.Input.Fields[c]
		r.add(fromInput, uint32(c), f.Type, f.Optional)
	}
	return r
}

// FromGenerated takes generated columns of this output.
func (r *Route) FromGenerated(columns ...*Generated) *Route {
	for _, g := range columns {
		if g.owner != r.owner {
			r.owner.mistake("a route takes a generated column of another output")
			continue
		}
		g.used = true
		r.add(fromGenerated, g.index, g.typ, g.optional)
	}
	return r
}

// FromNothing leaves the next field to SET of the route; it is null otherwise.
func (r *Route) FromNothing() *Route {
	r.add(uninitialized, 0, nil, false)
	return r
}

// recordHead is the table of a row with its padding and the length of its tokens.
const recordHead = 24

// Carry adds a row, with its entry whole.
func (r *Route) Carry(e Entry) {
	if r.same != nil {
		r.owner.mistake("a route with the rows of another one is given rows of its own")
		return
	}
	w := &r.records
	has := uint32(0)
	if e.hasSource {
		has = 1
	}
	w.Add32(has)
	w.Add32(16) // from the member to the vector
	w.Add64(e.source)
	w.Add32(0)
	w.Add32(uint32(len(e.tokens)))
	w.B = append(w.B, octets(e.tokens)...)
	r.rows++
	r.sourceless = r.sourceless || !e.hasSource
}

// CarryAll adds all rows of a batch.
func (r *Route) CarryAll(b *Batch) {
	for i := range b.rows {
		r.Carry(b.Entry(i))
	}
}

// CarrySame gives the route the rows of another route of this output, those it has and those it will have.
func (r *Route) CarrySame(o *Route) {
	if r.rows > 0 || r.owner != o.owner || r == o || o.same != nil {
		r.owner.mistake("a route takes over rows that it cannot have")
		return
	}
	r.same = o
}

// Ack says that an input is done without a row. An input that is neither carried nor decided stays with the guest.
func (r *Route) Ack(e Entry) { r.acked = append(r.acked, e.tokens...) }

// Nack fails an input at once, so that its source may send it again.
func (r *Route) Nack(e Entry, reason string) { r.nacked = append(r.nacked, decide(e, reason)) }

// MessageError fails an input by the route's ON MESSAGE ERROR.
func (r *Route) MessageError(e Entry, reason string) { r.failed = append(r.failed, decide(e, reason)) }

func decide(e Entry, reason string) decision {
	return decision{append([]uint64(nil), e.tokens...), reason}
}

// Filter carries the rows of a batch that keep accepts, and acknowledges the others. Entries stay whole.
func (r *Route) Filter(b *Batch, keep func(row int) bool) {
	for i := range b.rows {
		if e := b.Entry(i); keep(i) {
			r.Carry(e)
		} else {
			r.Ack(e)
		}
	}
}

// Verdict is what becomes of a row in Map.
type Verdict struct {
	fate   fate
	reason string
}

type fate uint8

const (
	carried fate = iota
	acked
	nacked
	errored
)

// Carried lets the row go on; Acked, Nacked and Errored are Route.Ack, Nack and MessageError.
func Carried() Verdict { return Verdict{} }

// Acked acknowledges a row.
func Acked() Verdict { return Verdict{fate: acked} }

// Nacked fails a row at once.
func Nacked(reason string) Verdict { return Verdict{nacked, reason} }

// Errored fails a row by ON MESSAGE ERROR.
func Errored(reason string) Verdict { return Verdict{errored, reason} }

// Map lets decide judge every row of a batch. It puts one value into each generated column if it answers Carried. Entries stay whole.
func (r *Route) Map(b *Batch, decide func(row int) Verdict) {
	for i := range b.rows {
		e := b.Entry(i)
		switch v := decide(i); v.fate {
		case carried:
			r.Carry(e)
		case acked:
			r.Ack(e)
		case nacked:
			r.Nack(e, v.reason)
		case errored:
			r.MessageError(e, v.reason)
		}
	}
}

// judge completes the columns and finds mistakes; it gives the number of rows of the generated batch.
func (o *Output) judge() (rows uint32, err error) {
	if len(o.routes) == 0 {
		o.mistake("it has no route")
	}
	for _, g := range o.columns {
		g.finish()
		if !g.used {
			o.mistake("a generated column is not used by any route")
		}
		if g.rows != o.columns[0].rows {
			o.mistake("generated columns have different numbers of rows")
		}
		rows = o.columns[0].rows
	}
	inputs, sourceless := false, false
	for _, r := range o.routes {
		if len(r.columns) != len(r.to.Fields) {
			o.mistake("a route has fewer columns than its relay has fields")
		}
		for _, c := range r.columns {
			if c.source == fromGenerated && r.count() != rows {
				o.mistake("a generated column has another number of rows than its route")
			}
			inputs = inputs || c.source == fromInput
		}
		sourceless = sourceless || r.sourceless
	}
	if inputs && sourceless {
		o.mistake("a row without source stands beside columns of the input")
	}
	if o.wrong != "" {
		return 0, Failure("the guest emits an output that is wrong: " + o.wrong)
	}
	return rows, nil
}

func (r *Route) count() uint32 {
	if r.same != nil {
		return r.same.rows
	}
	return r.rows
}
