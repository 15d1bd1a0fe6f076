// SPDX-License-Identifier: Apache-2.0

package uploads

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/wire"
)

func TestUpload(t *testing.T) {
	// req: X-254 half: the size is told at the end, so that a client packs and sends in one pass
	n := newNode(t, nil)
	b := pack(t, strings.Repeat("content", 1000))
	got := n.whole(first, b)
	if got.Disposition != wire.DispositionCompleted || got.Version != 1 {
		t.Fatalf("%+v", got)
	}
	e := n.ledger.versions[1]
	end := endOf(b)
	want := Stored{Version: 1, Digest: end.Digest, ArchiveBytes: end.ArchiveBytes, Bytes: 7000, Files: 1}
	if e.stored != want || e.request.User != "admin" || e.request.Domain != "weather" || e.request.Resource != "models" {
		t.Fatalf("%+v", e)
	}
	content, err := n.store.Read(end.Digest, "a", 7000)
	if err != nil || len(content) != 7000 {
		t.Fatal(err)
	}
}

// TestTheSameIdentity: the same bytes again give the same version, other bytes are a conflict, and another user's equal reference is another
// upload.
func TestTheSameIdentity(t *testing.T) {
	// req: X-255 half: what lasts is the committed state, which is shown in package registry
	// req: X-021 half: uploads
	n := newNode(t, nil)
	b := pack(t, "one")
	if got := n.whole(first, b); got.Version != 1 || got.Disposition != wire.DispositionCompleted {
		t.Fatalf("%+v", got)
	}
	if got := n.whole(first, b); got.Version != 1 || got.Disposition != wire.DispositionCompleted {
		t.Fatalf("%+v", got)
	}
	got := n.whole(first, pack(t, "two"))
	if got.Disposition != wire.DispositionFailed || got.Code != string(fault.ResourceConflict) || got.Version != 1 || got.Hint == "" ||
		!strings.Contains(got.Text, "RESOURCE models in domain weather: this upload identity brought other bytes before, as version 1") || strings.Contains(got.Text, "[") {
		t.Fatalf("%+v", got)
	}
	if n.ledger.state(1) != "completed" {
		t.Fatal("a conflict failed the version")
	}
	c := n.open("Other")
	if v := c.begin(first); v != 2 {
		t.Fatal(v)
	}
	c.chunks(b)
	c.send(endOf(b))
	if got := c.result(); got.Version != 2 || got.Disposition != wire.DispositionCompleted {
		t.Fatalf("%+v", got)
	}
	if slices.Contains(n.ledger.calls, "fail") {
		t.Fatal(n.ledger.calls)
	}
}

// TestRefusals: each ends with its code and fails the version, if one was assigned; the next upload of the identity is a new version.
func TestRefusals(t *testing.T) {
	// req: X-257 half: quotas are not there yet
	b := pack(t, "content")
	broken := endOf(b)
	broken.Digest[0]++
	short := endOf(b)
	short.ArchiveBytes--
	begun := func(then func(c *connection)) func(c *connection) {
		return func(c *connection) {
			c.begin(first)
			then(c)
		}
	}
	for name, one := range map[string]struct {
		do    func(c *connection)
		code  fault.Code
		words string
	}{
		"no open":        {func(c *connection) { c.send(endOf(b)) }, fault.ResourceStream, "the first frame does not open an upload"},
		"no reference":   {func(c *connection) { c.send(openOf("mine")) }, fault.ControlReference, "no UUIDv7"},
		"no frame":       {func(c *connection) { _, _ = c.to.Write([]byte("\x10\x00\x00\x00garbage garbage!")) }, fault.ResourceStream, "cannot be read"},
		"long frame":     {func(c *connection) { _, _ = c.to.Write([]byte("\x00\x00\x00\x10")) }, fault.ResourceStream, "cannot be read"},
		"nothing":        {func(c *connection) { c.to.Close() }, fault.ResourceInterrupted, "ended the upload before its end"},
		"open twice":     {begun(func(c *connection) { c.send(openOf(first)) }), fault.ResourceStream, "a second time"},
		"no end":         {begun(func(c *connection) { c.chunks(b); c.to.Close() }), fault.ResourceInterrupted, "ended the upload before its end"},
		"early end":      {begun(func(c *connection) { c.chunks(b[:700]); c.send(endOf(b)) }), fault.ResourceArchive, "ends before its end mark"},
		"no archive":     {begun(func(c *connection) { c.chunks(make([]byte, 700)); c.chunks(b) }), fault.ResourceArchive, "an empty block"},
		"trailing bytes": {begun(func(c *connection) { c.chunks(b); c.chunks(b) }), fault.ResourceArchive, "bytes follow"},
		"digest":         {begun(func(c *connection) { c.chunks(b); c.send(broken) }), fault.ResourceTransfer, "digest"},
		"length":         {begun(func(c *connection) { c.chunks(b); c.send(short) }), fault.ResourceTransfer, "2048 bytes arrived, the client sent 2047"},
	} {
		t.Run(name, func(t *testing.T) {
			failed := 0
			n := newNode(t, func(c *Config) { c.Failed = func() { failed++ } })
			c := n.open("admin")
			one.do(c)
			got := c.result()
			if got.Disposition != wire.DispositionFailed || got.Code != string(one.code) || !strings.Contains(got.Text, one.words) {
				t.Fatalf("%+v", got)
			}
			<-c.served
			if admitted := len(n.ledger.versions) > 0; admitted != (got.Version == 1) || admitted != (failed == 1) || admitted && n.ledger.state(1) != "failed" {
				t.Fatalf("version %d, %s, %d calls", got.Version, n.ledger.state(1), failed)
			}
			if _, err := n.store.Stat(endOf(b).Digest); !fault.Has(err, fault.ResourceMissing) {
				t.Fatal(err)
			}
			if again := n.whole(first, b); again.Disposition != wire.DispositionCompleted || again.Version != got.Version+1 {
				t.Fatalf("%+v", again)
			}
		})
	}
}

// TestControlRefuses: what control says reaches the client, and what may have been completed is not failed.
func TestControlRefuses(t *testing.T) {
	b := pack(t, "content")
	say := func(code fault.Code) error { return fault.New(code, "", ident.Ref{}, "", errors.New("so it is")) }
	for name, one := range map[string]struct {
		method      string
		code        fault.Code
		disposition wire.Disposition
		version     uint64
		state       string
	}{
		"unknown resource":  {"admit", fault.ResourceUnknown, wire.DispositionFailed, 0, "none"},
		"admission unknown": {"admit", fault.ControlUncertain, wire.DispositionUnknown, 0, "none"},
		"conflict":          {"complete", fault.ResourceConflict, wire.DispositionFailed, 1, "failed"},
		"no leader":         {"complete", fault.ControlUnavailable, wire.DispositionFailed, 1, "failed"},
		"uncertain":         {"complete", fault.ControlUncertain, wire.DispositionUnknown, 1, "uploading"},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, nil)
			n.ledger.refuse[one.method] = say(one.code)
			c := n.open("admin")
			c.send(openOf(first))
			if one.method == "complete" {
				c.reply()
				c.chunks(b)
				c.send(endOf(b))
			}
			got := c.result()
			if got.Disposition != one.disposition || got.Code != string(one.code) || got.Version != one.version || !strings.HasSuffix(got.Text, "so it is") {
				t.Fatalf("%+v", got)
			}
			<-c.served
			if n.ledger.state(1) != one.state {
				t.Fatal(n.ledger.state(1))
			}
			if _, err := n.store.Stat(endOf(b).Digest); (err == nil) != (one.method == "complete") {
				t.Fatal(err)
			}
		})
	}
}

// TestClientVanishes: a lost connection fails the version and leaves nothing.
func TestClientVanishes(t *testing.T) {
	n := newNode(t, nil)
	c := n.open("admin")
	c.begin(first)
	c.chunks(pack(t, "content")[:700])
	c.cut()
	<-c.served
	if n.ledger.state(1) != "failed" {
		t.Fatal(n.ledger.state(1))
	}
	if got := n.whole(first, pack(t, "content")); got.Version != 2 || got.Disposition != wire.DispositionCompleted {
		t.Fatalf("%+v", got)
	}
}

// TestCompletionGoesOn: once the archive is whole, the version is completed also when the client is gone.
func TestCompletionGoesOn(t *testing.T) {
	// req: X-258 half: one node
	b := pack(t, "content")
	n := newNode(t, nil)
	gate := &gate{Store: kept{n.store}, reached: make(chan struct{}), open: make(chan struct{})}
	n.config.Store = gate
	c := n.open("admin")
	c.begin(first)
	c.chunks(b)
	c.send(endOf(b))
	<-gate.reached
	c.cut()
	close(gate.open)
	<-c.served
	if n.ledger.state(1) != "completed" {
		t.Fatal(n.ledger.state(1))
	}
	n.config.Store = kept{n.store}
	if got := n.whole(first, b); got.Version != 1 || got.Disposition != wire.DispositionCompleted {
		t.Fatalf("%+v", got)
	}
}

// gate stops where an archive was received.
type gate struct {
	Store
	reached, open chan struct{}
}

func (g *gate) Receive(ctx context.Context, from io.Reader) (Received, error) {
	r, err := g.Store.Receive(ctx, from)
	close(g.reached)
	<-g.open
	return r, err
}

// TestTurns: one upload of an identity at a time, and no more than the places altogether; who waits too long is told.
func TestTurns(t *testing.T) {
	b := pack(t, "content")
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, func(c *Config) { c.Active, c.Silence = 2, time.Hour })
		one := n.open("admin")
		one.begin(first)
		// The same identity on another connection waits, and is told that it is busy.
		same := n.open("admin")
		same.send(openOf(first))
		if got := same.result(); got.Code != string(fault.ResourceBusy) || !strings.Contains(got.Text, "on another connection") {
			t.Fatalf("%+v", got)
		}
		// A second identity has a place, a third has none.
		two := n.open("admin")
		two.begin("0192f6a0-7c00-7abc-8def-000000000002")
		three := n.open("admin")
		three.send(openOf("0192f6a0-7c00-7abc-8def-000000000003"))
		if got := three.result(); got.Code != string(fault.ResourceBusy) || !strings.Contains(got.Text, "as many uploads") {
			t.Fatalf("%+v", got)
		}
		// Who waits gets the place of who is done.
		three = n.open("admin")
		three.send(openOf("0192f6a0-7c00-7abc-8def-000000000003"))
		same = n.open("admin")
		same.send(openOf(first))
		synctest.Wait()
		one.chunks(b)
		one.send(endOf(b))
		if got := one.result(); got.Version != 1 || got.Disposition != wire.DispositionCompleted {
			t.Fatalf("%+v", got)
		}
		if a, ok := three.reply().(wire.UploadAccepted); !ok || a.Version != 3 {
			t.Fatal(a)
		}
		two.cut()
		if a, ok := same.reply().(wire.UploadAccepted); !ok || a.Version != 1 {
			t.Fatal(a)
		}
		same.chunks(b)
		same.send(endOf(b))
		if got := same.result(); got.Version != 1 || got.Disposition != wire.DispositionCompleted {
			t.Fatalf("%+v", got)
		}
		three.cut()
		<-three.served
		<-two.served
		if n.ledger.state(2) != "failed" || n.ledger.state(3) != "failed" {
			t.Fatal(n.ledger.calls)
		}
	})
}

// TestSilence: a client that says nothing loses its place.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, nil)
		c := n.open("admin")
		c.begin(first)
		c.chunks(pack(t, "content")[:700])
		if got := c.result(); got.Code != string(fault.ResourceInterrupted) || !strings.Contains(got.Text, "the client sent nothing for 1m0s") {
			t.Fatalf("%+v", got)
		}
		<-c.served
		if n.ledger.state(1) != "failed" {
			t.Fatal(n.ledger.state(1))
		}
		c = n.open("admin")
		if got := c.result(); got.Code != string(fault.ResourceInterrupted) {
			t.Fatalf("%+v", got)
		}
	})
}

// TestNothingIsReadAhead: while the store takes nothing, at most one frame waits.
func TestNothingIsReadAhead(t *testing.T) {
	// req: X-261 half: progress of nodes is not there; the client's callback is shown in package client
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, nil)
		blocked := make(chan struct{})
		n.config.Store = storeFunc(func(context.Context, io.Reader) (Received, error) {
			<-blocked
			return nil, fault.New(fault.ResourceDiskFull, "", ident.Ref{}, "no room", nil)
		})
		c := n.open("admin")
		c.begin(first)
		sent := 0
		go func() {
			for c.send(wire.UploadChunk{Bytes: make([]byte, 1000)}) {
				sent++
			}
		}()
		synctest.Wait()
		if sent > 1 {
			t.Errorf("%d frames were read before the store took one", sent)
		}
		close(blocked)
		if got := c.result(); got.Code != string(fault.ResourceDiskFull) || got.Text != "no room" {
			t.Fatalf("%+v", got)
		}
	})
}

type storeFunc func(context.Context, io.Reader) (Received, error)

func (f storeFunc) Receive(ctx context.Context, from io.Reader) (Received, error) {
	return f(ctx, from)
}
