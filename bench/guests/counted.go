// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"context"

	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// Counted counts what passes between a node and its guests. It belongs to one lane.
type Counted struct {
	wasmproc.Modules
	Counts
	// Last is the newest output.
	Last []byte
}

// Counts are what passed.
type Counts struct {
	// Operations are logical operations, Messages what went in, of In bytes: each asked the guest for a buffer and was written into it. Emits and Dumps are
	// the further calls, Outputs what came out, of Out bytes; Saved are the bytes of states.
	Operations, Messages, Emits, Dumps, Outputs int
	In, Out, Saved                              int64
	// Largest is the size of the largest message; Grew counts the growths of linear memory, of which SizeGrew could be foreseen: the message was the largest
	// so far.
	Largest, Grew, SizeGrew int
	// Memory is the linear memory of the instance that answered last.
	Memory uint64
}

// Acquire implements wasmproc.Modules.
func (c *Counted) Acquire(ctx context.Context, pin wasmproc.Pin) (wasmproc.Module, error) {
	m, err := c.Modules.Acquire(ctx, pin)
	if err != nil {
		return nil, err
	}
	return countedModule{m, c}, nil
}

type countedModule struct {
	wasmproc.Module
	c *Counted
}

// Instantiate implements wasmproc.Module.
func (m countedModule) Instantiate(l wasmproc.Limits, now vtime.Logical) (wasmproc.Guest, error) {
	g, err := m.Module.Instantiate(l, now)
	if err != nil {
		return nil, err
	}
	return &countedGuest{Guest: g, c: m.c}, nil
}

type countedGuest struct {
	wasmproc.Guest
	c       *Counted
	memory  uint64
	largest int
}

func (g *countedGuest) note(a wasmproc.Answer) {
	g.c.Memory = a.Memory
	if g.memory != 0 && a.Memory > g.memory {
		g.c.Grew++
	}
	g.memory = a.Memory
	if len(a.Output) > 0 {
		g.c.Outputs++
		g.c.Last = a.Output
		g.c.Out += int64(len(a.Output))
	}
}

// Begin implements wasmproc.Guest.
func (g *countedGuest) Begin(op wasmproc.Op, now vtime.Logical) {
	g.c.Operations++
	g.Guest.Begin(op, now)
}

// Send implements wasmproc.Guest.
func (g *countedGuest) Send(m protocol.Message) (wasmproc.Answer, error) {
	size := m.Size()
	g.c.Messages++
	g.c.In += int64(size)
	g.c.Largest = max(g.c.Largest, size)
	if size > g.largest {
		g.largest = size
		g.c.SizeGrew++
	}
	a, err := g.Guest.Send(m)
	g.note(a)
	return a, err
}

// ReadEmit implements wasmproc.Guest.
func (g *countedGuest) ReadEmit() (wasmproc.Answer, error) {
	g.c.Emits++
	a, err := g.Guest.ReadEmit()
	g.note(a)
	return a, err
}

// Dump implements wasmproc.Guest.
func (g *countedGuest) Dump() (wasmproc.Answer, error) {
	g.c.Dumps++
	a, err := g.Guest.Dump()
	g.c.Saved += int64(len(a.Output))
	state := a.Output
	a.Output = nil
	g.note(a)
	a.Output = state
	return a, err
}
