// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nervix-go/nervix/host/session/lanes"
	"github.com/nervix-go/nervix/host/session/transport"
	"github.com/nervix-go/nervix/host/wire"
	"github.com/quic-go/quic-go"
)

// archive is a fake of what serves uploads: it accepts, reads chunks to the end, and answers with their length as version. A resource called
// "hold" waits for the end of its context first.
type archive struct {
	opened, over chan string
}

func newArchive() *archive {
	return &archive{opened: make(chan string, 16), over: make(chan string, 16)}
}

func (a *archive) Upload(ctx context.Context, opened transport.Opened, stream io.ReadWriter) {
	defer func() { a.over <- opened.User }()
	next := func() wire.UploadClientBody {
		frame, err := wire.ReadFrame(stream, wire.UploadFrameLimit)
		if err != nil {
			return nil
		}
		body, err := wire.DecodeUploadClient(frame)
		if err != nil {
			return nil
		}
		return body
	}
	say := func(body wire.UploadServerBody) {
		if frame, err := wire.EncodeUploadServer(body); err == nil {
			_, _ = stream.Write(wire.AppendFrame(nil, frame))
		}
	}
	open, ok := next().(wire.UploadOpen)
	if !ok {
		return
	}
	a.opened <- open.Resource
	if open.Resource == "hold" {
		<-ctx.Done()
		return
	}
	say(wire.UploadAccepted{Version: 1})
	var size uint64
	for {
		switch body := next().(type) {
		case wire.UploadChunk:
			size += uint64(len(body.Bytes))
		case wire.UploadEnd:
			say(wire.UploadResult{Disposition: wire.DispositionCompleted, Version: size})
			return
		default:
			return
		}
	}
}

func withArchive(a *archive) func(*transport.Config) {
	return func(c *transport.Config) { c.Uploads = a }
}

// loginWith greets with the given greatest protocol and opens the control lane.
func (n *node) loginWith(t *testing.T, protocol uint32) (*peer, wire.HelloReply) {
	t.Helper()
	p := n.connect(t)
	h := hello(password)
	h.ProtocolMax = protocol
	p.write(lanes.Ordered, wire.ClientFrame{Body: h})
	reply := p.read(lanes.Ordered).Body.(wire.HelloReply)
	p.send(wire.StatusRequest{})
	p.read(lanes.Control)
	return p, reply
}

// upload opens a stream and says its first frame.
func (p *peer) upload(resource string) *quic.Stream {
	p.t.Helper()
	stream, err := p.conn.OpenStreamSync(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	p.say(stream, wire.UploadOpen{Reference: "r", Domain: "d", Resource: resource})
	return stream
}

func (p *peer) say(stream *quic.Stream, body wire.UploadClientBody) {
	p.t.Helper()
	frame, err := wire.EncodeUploadClient(body)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := stream.Write(wire.AppendFrame(nil, frame)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) heard(stream *quic.Stream) wire.UploadServerBody {
	p.t.Helper()
	frame, err := wire.ReadFrame(stream, wire.UploadFrameLimit)
	if err != nil {
		p.t.Fatal(err)
	}
	body, err := wire.DecodeUploadServer(frame)
	if err != nil {
		p.t.Fatal(err)
	}
	return body
}

func TestAnUploadHasAStreamOfItsOwn(t *testing.T) {
	a := newArchive()
	n := serve(t, withArchive(a))
	p, reply := n.loginWith(t, 2)
	if !slices.Contains(reply.Features, transport.FeatureUploads) || reply.Protocol != 2 {
		t.Fatalf("greeting: %+v", reply)
	}
	// More in sequence than may be open at once: the place of a finished one is given back.
	for range 3 * transport.MaxUploads {
		s := p.upload("models")
		if got := p.heard(s); got != (wire.UploadAccepted{Version: 1}) {
			t.Fatalf("first frame: %+v", got)
		}
		p.say(s, wire.UploadChunk{Bytes: make([]byte, wire.MaxUploadChunk)})
		p.say(s, wire.UploadChunk{Bytes: make([]byte, 7)})
		p.say(s, wire.UploadEnd{ArchiveBytes: wire.MaxUploadChunk + 7})
		_ = s.Close()
		if got := p.heard(s); got != (wire.UploadResult{Disposition: wire.DispositionCompleted, Version: wire.MaxUploadChunk + 7}) {
			t.Fatalf("result: %+v", got)
		}
		if rest, err := io.ReadAll(s); err != nil || len(rest) > 0 {
			t.Fatalf("after the result: %d bytes, %v", len(rest), err)
		}
	}
}

// TestUploadsAreBoundedAndDoNotCloseTheLanes: the fifth waits, what is not read on four streams closes no lane, and the end of the session
// ends them all.
func TestUploadsAreBoundedAndDoNotCloseTheLanes(t *testing.T) {
	a := newArchive()
	n := serve(t, withArchive(a))
	p, _ := n.loginWith(t, 2)
	for range transport.MaxUploads {
		s := p.upload("hold")
		<-a.opened
		go func() { _, _ = s.Write(make([]byte, 4<<20)) }() // the node does not read it
	}
	if _, err := p.conn.OpenStream(); err == nil {
		t.Error("a fifth upload could be opened")
	}
	for range 20 {
		p.send(command("ok"))
		if out := p.read(lanes.Ordered).Body.(wire.CommandOutcome); out.Disposition != wire.DispositionCompleted {
			t.Fatalf("a command beside: %+v", out)
		}
		p.send(wire.StatusRequest{})
		p.read(lanes.Control)
	}
	_ = p.conn.CloseWithError(0, "")
	for range transport.MaxUploads {
		<-a.over
	}
	n.works(t)
}

func TestADrainEndsUploads(t *testing.T) {
	a := newArchive()
	n := serve(t, withArchive(a))
	p, _ := n.loginWith(t, 2)
	s := p.upload("hold")
	<-a.opened
	n.server.Drain()
	<-a.over
	if _, err := s.Read(make([]byte, 1)); err == nil {
		t.Error("the stream goes on")
	}
	if e := p.ending(); e.Reason != wire.EndingShuttingDown {
		t.Errorf("got %+v", e)
	}
}

// TestProtocolOneIsServed: an older client gets what it knows, and no upload.
func TestProtocolOneIsServed(t *testing.T) {
	// req: X-036 half: versions, not yet minors
	a := newArchive()
	n := serve(t, withArchive(a))
	p, reply := n.loginWith(t, 1)
	want := wire.HelloReply{Node: "n1", Incarnation: 1, ProtocolMin: 1, ProtocolMax: 2, Protocol: 1,
		Features: []string{"cancel", "domains", "status"}, FrameLimit: 1 << 20}
	if diff := cmp.Diff(want, reply); diff != "" {
		t.Fatal(diff)
	}
	p.send(wire.ListDomainsRequest{})
	list := p.read(lanes.Control).Body.(wire.DomainList)
	if diff := cmp.Diff([]wire.DomainEntry{{Name: "weather", Status: "running"}}, list.Domains); diff != "" {
		t.Error(diff)
	}
	s, err := p.conn.OpenStreamSync(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = s.Write([]byte{1})
	var reset *quic.StreamError
	if _, err := s.Read(make([]byte, 1)); !errors.As(err, &reset) {
		t.Errorf("a third stream of protocol 1: %v", err)
	}
	p.send(command("ok"))
	p.read(lanes.Ordered)
}
