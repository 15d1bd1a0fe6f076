// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/arrowipc"
	"github.com/nervix-go/nervix/plugins/descriptor"
	"github.com/nervix-go/nervix/plugins/wire"
)

// sourceChannel owns one Source and the goroutine that calls it. Everything else leaves a note and wakes the goroutine.
type sourceChannel struct {
	conn   *wire.Conn
	id     uint32
	source Source
	batch  *Batch
	enc    arrowipc.Encoder
	meta   []descriptor.Column
	consts map[string]string
	sent   [2]bool // schemas

	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
	wake   chan struct{}
	failed error // of Close, read after done

	mu struct {
		sync.Mutex
		credit    wire.Credit
		rejects   [][]byte
		ack       []byte
		interrupt context.CancelFunc // ends the Read under way
	}
}

func newSourceChannel(ctx context.Context, conn *wire.Conn, id uint32, src Source, b *Batch, meta []descriptor.Column, consts map[string]string) *sourceChannel {
	c := &sourceChannel{conn: conn, id: id, source: src, batch: b, meta: meta, consts: consts, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	c.ctx, c.cancel = context.WithCancel(ctx)
	return c
}

func (c *sourceChannel) frame(h wire.Header, body *memory.Buffer) {
	c.mu.Lock()
	switch h.Kind {
	case wire.KindGrant:
		if body != nil {
			c.mu.credit.Grant(wire.ParseGrant(h, body.Bytes()))
		}
	case wire.KindAck:
		if body != nil {
			c.mu.ack = append(c.mu.ack[:0], body.Bytes()...)
			if _, ok := c.source.(Acknowledger); ok {
				c.interruptLocked()
			}
		}
	}
	c.mu.Unlock()
	if body != nil {
		body.Release()
	}
	c.signal()
}

func (c *sourceChannel) interruptLocked() {
	if c.mu.interrupt != nil {
		c.mu.interrupt()
	}
}

func (c *sourceChannel) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// reject leaves the position for the goroutine. It does not wait: the row may have to wait for credit.
func (c *sourceChannel) reject(position []byte) {
	c.mu.Lock()
	c.mu.rejects = append(c.mu.rejects, append([]byte(nil), position...))
	c.interruptLocked()
	c.mu.Unlock()
	c.signal()
}

func (c *sourceChannel) end(ctx context.Context) error {
	c.cancel()
	select {
	case <-c.done:
		return c.failed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *sourceChannel) run() {
	defer close(c.done)
	defer c.cancel()
	if err := c.loop(); err != nil && c.ctx.Err() == nil {
		h := wire.Header{Kind: wire.KindFailed, Channel: c.id}
		if IsDefinitive(err) {
			h.Flags = wire.FlagDefinitive
		}
		_ = c.conn.Write(h, []byte(err.Error()))
		<-c.ctx.Done()
	}
	c.failed = c.source.Close()
	_ = c.conn.Write(wire.Header{Kind: wire.KindClosed, Channel: c.id})
}

func (c *sourceChannel) loop() error {
	finished := false
	for {
		// 1. Acknowledgements and rejections first: what is rejected is sent again before anything else is read.
		again, err := c.serveNotes()
		if err != nil {
			return err
		}
		// 2. Wait for credit and for something to read.
		ctx, interrupt, ok := c.turn(finished)
		if !ok {
			if again { // a finite source is finished once more
				if err := c.tellFinished(finished); err != nil {
					return err
				}
			}
			select {
			case <-c.wake:
				continue
			case <-c.ctx.Done():
				return nil
			}
		}
		// 3. Read and send.
		err = c.source.Read(ctx, c.batch)
		interrupted := ctx.Err() != nil
		interrupt()
		if sendErr := c.send(0); sendErr != nil {
			return sendErr
		}
		switch {
		case errors.Is(err, io.EOF):
			finished = true
			if err := c.tellFinished(true); err != nil {
				return err
			}
		case err != nil && !interrupted:
			return err
		case c.ctx.Err() != nil:
			return nil
		}
	}
}

func (c *sourceChannel) tellFinished(finished bool) error {
	if !finished {
		return nil
	}
	return c.conn.Write(wire.Header{Kind: wire.KindFinished, Channel: c.id, Arg: c.batch.skipped})
}

// serveNotes hands acknowledgements and rejections to the source. Rejected rows go out in batches of their own, as credit allows.
func (c *sourceChannel) serveNotes() (again bool, err error) {
	c.mu.Lock()
	ack := c.mu.ack
	c.mu.ack = nil
	var rejects [][]byte
	if c.mu.credit.ReadyAgain() {
		rejects, c.mu.rejects = c.mu.rejects, nil
	}
	c.mu.Unlock()
	if a, ok := c.source.(Acknowledger); ok && ack != nil {
		if err := a.Acknowledge(c.ctx, ack); err != nil {
			return false, err
		}
	}
	for i, position := range rejects {
		c.batch.reset()
		c.batch.rowLimit = 1
		if err := c.source.Reject(c.ctx, position, c.batch); err != nil {
			return again, err
		}
		if c.batch.Rows() != 1 {
			return again, errors.New("the source has nothing at the rejected position")
		}
		if err := c.send(wire.FlagAgain); err != nil {
			return again, err
		}
		again = true
		c.mu.Lock()
		out := !c.mu.credit.ReadyAgain()
		if out {
			c.mu.rejects = append(rejects[i+1:len(rejects):len(rejects)], c.mu.rejects...)
		}
		c.mu.Unlock()
		if out {
			break
		}
	}
	return again, nil
}

// turn says whether to read now, and prepares the batch; the context ends when a note arrives.
func (c *sourceChannel) turn(finished bool) (context.Context, context.CancelFunc, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	waiting := len(c.mu.rejects) > 0
	if waiting && c.mu.credit.ReadyAgain() {
		c.signal()
	}
	if finished || waiting || !c.mu.credit.Ready() || c.ctx.Err() != nil {
		return nil, nil, false
	}
	c.batch.reset()
	c.batch.rowLimit = int(min(int64(c.batch.targetRows), c.mu.credit.Rows))
	ctx, cancel := context.WithCancel(c.ctx)
	c.mu.interrupt = cancel
	return ctx, cancel, true
}

// send sends the batch if it has rows; flags is 0 or FlagAgain.
func (c *sourceChannel) send(flags uint8) error {
	c.mu.Lock()
	c.mu.interrupt = nil
	c.mu.Unlock()
	if c.batch.Rows() == 0 {
		return nil
	}
	index := wire.SchemaGood
	if c.batch.bad {
		index = wire.SchemaErrors
	}
	if !c.sent[index] {
		c.sent[index] = true
		constant := func(name string) bool { _, ok := c.consts[name]; return ok }
		m, err := arrowipc.SchemaMessage(wire.SourceSchema(c.meta, constant, c.batch.bad))
		if err != nil {
			return err
		}
		if err := c.conn.Write(wire.Header{Kind: wire.KindSchema, Channel: c.id, Count: uint32(index)}, m); err != nil {
			return err
		}
	}
	parts, size, err := c.batch.encode(&c.enc)
	if err != nil {
		return err
	}
	rows := int64(c.batch.Rows())
	counted := rows
	if flags == wire.FlagAgain {
		counted = 0
	}
	c.mu.Lock()
	c.mu.credit.Take(int64(size), counted)
	c.mu.Unlock()
	return c.conn.Write(wire.Header{Kind: wire.KindBatch, Flags: flags, Channel: c.id, Count: uint32(index), Arg: uint64(rows)}, parts...)
}
