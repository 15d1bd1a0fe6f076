// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/nervix-go/nervix/host/arrowipc"
	"github.com/nervix-go/nervix/plugins/wire"
)

// sinkChannel owns one Sink and the goroutine that calls it. The host has one attempt under way, so one slot is enough.
type sinkChannel struct {
	conn *wire.Conn
	id   uint32
	sink Sink

	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
	offers chan offer
	failed error // of Close, read after done
}

type offer struct {
	h    wire.Header
	body *memory.Buffer
}

func newSinkChannel(ctx context.Context, conn *wire.Conn, id uint32, sink Sink) *sinkChannel {
	c := &sinkChannel{conn: conn, id: id, sink: sink, done: make(chan struct{}), offers: make(chan offer, 2)}
	c.ctx, c.cancel = context.WithCancel(ctx)
	return c
}

func (c *sinkChannel) frame(h wire.Header, body *memory.Buffer) {
	if h.Kind == wire.KindBatch && body != nil {
		select {
		case c.offers <- offer{h, body}:
			return
		default: // more than one attempt under way: a host defect; the attempt stays unanswered
		}
	}
	if body != nil {
		body.Release()
	}
}

// end lets the attempt under way finish.
func (c *sinkChannel) end(ctx context.Context) error {
	stop := context.AfterFunc(ctx, c.cancel)
	defer stop()
	select {
	case c.offers <- offer{}: // the mark behind the last attempt
	case <-c.ctx.Done():
	}
	select {
	case <-c.done:
		return c.failed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *sinkChannel) run() {
	defer close(c.done)
	defer c.cancel()
	reader, err := arrowipc.NewReader(wire.SinkSchema, arrowipc.Limits{})
	for err == nil {
		var o offer
		select {
		case o = <-c.offers:
		case <-c.ctx.Done():
		}
		if o.body == nil {
			break
		}
		err = c.publish(reader, o)
	}
	c.failed = c.sink.Close()
	_ = c.conn.Write(wire.Header{Kind: wire.KindClosed, Channel: c.id})
}

func (c *sinkChannel) publish(reader *arrowipc.Reader, o offer) error {
	var a Answers
	batch, err := reader.Decode(o.body)
	o.body.Release()
	if err == nil {
		err = c.sink.Publish(c.ctx, payloadsOf(batch), &a)
		batch.Release()
	}
	if err != nil {
		a.a.Failure, a.a.Definitive = err.Error(), IsDefinitive(err)
	}
	return c.conn.Write(wire.Header{Kind: wire.KindAnswer, Channel: c.id, Arg: o.h.Arg}, a.a.Append(nil))
}
