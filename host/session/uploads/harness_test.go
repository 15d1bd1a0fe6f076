// SPDX-License-Identifier: Apache-2.0

package uploads

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/zeebo/blake3"
	"go.uber.org/goleak"

	"github.com/nervix-go/nervix/host/kernel/archive"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/resource"
	"github.com/nervix-go/nervix/host/session/transport"
	"github.com/nervix-go/nervix/host/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const first = "0192f6a0-7c00-7abc-8def-0123456789ab"

// pack is the archive of one file.
func pack(t testing.TB, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := archive.NewWriter(&b)
	err := w.Begin(archive.Entry{Path: "a", Size: uint64(len(content))})
	if err == nil {
		_, err = io.WriteString(w, content)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// ledger decides like control does, in memory.
type ledger struct {
	mu       sync.Mutex
	last     uint64
	versions map[uint64]*entry
	// refuse is what the method of the name answers instead.
	refuse map[string]error
	// calls are the methods that were called, in order.
	calls []string
}

type entry struct {
	request Request
	state   string
	stored  Stored
}

func newLedger() *ledger { return &ledger{versions: map[uint64]*entry{}, refuse: map[string]error{}} }

func (l *ledger) call(name string) error {
	l.calls = append(l.calls, name)
	return l.refuse[name]
}

func (l *ledger) Admit(_ context.Context, r Request) (Admitted, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.call("admit"); err != nil {
		return Admitted{}, err
	}
	for n, e := range l.versions {
		if e.request == r && e.state != "failed" {
			return Admitted{Version: n, Completed: e.state == "completed", Digest: e.stored.Digest}, nil
		}
	}
	l.last++
	l.versions[l.last] = &entry{request: r, state: "uploading"}
	return Admitted{Version: l.last}, nil
}

func (l *ledger) Complete(_ context.Context, _ Request, s Stored) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.call("complete"); err != nil {
		return err
	}
	e := l.versions[s.Version]
	if e.state != "uploading" {
		return fault.New(fault.ResourceConflict, "", ident.Ref{}, "it is "+e.state, nil)
	}
	e.state, e.stored = "completed", s
	return nil
}

func (l *ledger) Fail(_ context.Context, _ Request, version uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.call("fail"); err != nil {
		return err
	}
	l.versions[version].state = "failed"
	return nil
}

func (l *ledger) state(version uint64) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.versions[version] == nil {
		return "none"
	}
	return l.versions[version].state
}

// kept is the real store behind the port.
type kept struct{ *resource.Store }

func (k kept) Receive(ctx context.Context, from io.Reader) (Received, error) {
	r, err := k.Store.Receive(ctx, from)
	if err != nil {
		return nil, err
	}
	return held{r}, nil
}

type held struct{ *resource.Received }

func (h held) Stored() Stored {
	v := h.Version()
	return Stored{Digest: v.Digest, ArchiveBytes: v.ArchiveBytes, Bytes: v.Bytes, Files: v.Files}
}

// node is the handler with what is below it.
type node struct {
	*Uploads
	t      *testing.T
	ledger *ledger
	store  *resource.Store
}

func newNode(t *testing.T, change func(*Config)) *node {
	t.Helper()
	store, err := resource.Open(t.TempDir(), resource.Options{Reserve: 1})
	if err != nil {
		t.Fatal(err)
	}
	n := &node{t: t, ledger: newLedger(), store: store}
	c := Config{Control: n.ledger, Store: kept{store}}
	if change != nil {
		change(&c)
	}
	n.Uploads = New(c)
	t.Cleanup(func() { _ = n.Wait(context.Background()) })
	return n
}

// connection is the client's end of a stream, served until served is closed.
type connection struct {
	t      *testing.T
	to     *io.PipeWriter
	from   *mailbox
	cut    context.CancelFunc
	served chan struct{}
}

// mailbox takes what the server writes, as a transport does, before the client reads it.
type mailbox struct {
	mu     sync.Mutex
	more   *sync.Cond
	bytes  bytes.Buffer
	closed bool
}

func newMailbox() *mailbox {
	m := &mailbox{}
	m.more = sync.NewCond(&m.mu)
	return m
}

func (m *mailbox) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return 0, io.ErrClosedPipe
	}
	m.more.Broadcast()
	return m.bytes.Write(p)
}

func (m *mailbox) Read(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.bytes.Len() == 0 && !m.closed {
		m.more.Wait()
	}
	return m.bytes.Read(p)
}

func (m *mailbox) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.more.Broadcast()
}

type ends struct {
	io.Reader
	io.Writer
}

// open begins a stream of a user.
func (n *node) open(user string) *connection {
	replies := newMailbox()
	serverReads, clientWrites := io.Pipe()
	ctx, cut := context.WithCancel(context.Background())
	c := &connection{t: n.t, to: clientWrites, from: replies, served: make(chan struct{})}
	lost := errors.New("the stream was reset")
	c.cut = func() { cut(); serverReads.CloseWithError(lost); replies.close() }
	go func() {
		defer close(c.served)
		n.Upload(ctx, transport.Opened{User: user}, ends{serverReads, replies})
		replies.close()
		serverReads.CloseWithError(lost) // as the transport does
		cut()
	}()
	n.t.Cleanup(func() { c.cut(); <-c.served })
	return c
}

// send writes a frame; false says that the server reads no more.
func (c *connection) send(f wire.UploadClientBody) bool {
	c.t.Helper()
	frame, err := wire.EncodeUploadClient(f)
	if err != nil {
		c.t.Error(err)
		return false
	}
	_, err = c.to.Write(wire.AppendFrame(nil, frame))
	return err == nil
}

// reply reads a frame of the server.
func (c *connection) reply() wire.UploadServerBody {
	c.t.Helper()
	frame, err := wire.ReadFrame(c.from, wire.UploadFrameLimit)
	if err != nil {
		c.t.Fatal(err)
	}
	f, err := wire.DecodeUploadServer(frame)
	if err != nil {
		c.t.Fatal(err)
	}
	return f
}

func (c *connection) result() wire.UploadResult {
	c.t.Helper()
	r, ok := c.reply().(wire.UploadResult)
	if !ok {
		c.t.Fatal("not the result")
	}
	return r
}

func openOf(reference string) wire.UploadOpen {
	return wire.UploadOpen{Reference: reference, Domain: "Weather", Resource: "Models"}
}

func endOf(b []byte) wire.UploadEnd {
	return wire.UploadEnd{ArchiveBytes: uint64(len(b)), Digest: blake3.Sum256(b)}
}

// begin opens an upload and gives the version it was accepted as.
func (c *connection) begin(reference string) uint64 {
	c.t.Helper()
	c.send(openOf(reference))
	a, ok := c.reply().(wire.UploadAccepted)
	if !ok {
		c.t.Fatal("not accepted")
	}
	return a.Version
}

// chunks sends bytes in pieces of three.
func (c *connection) chunks(b []byte) {
	const size = 700
	for len(b) > 0 && c.send(wire.UploadChunk{Bytes: b[:min(size, len(b))]}) {
		b = b[min(size, len(b)):]
	}
}

// whole makes a complete upload.
func (n *node) whole(reference string, b []byte) wire.UploadResult {
	n.t.Helper()
	c := n.open("Admin")
	c.begin(reference)
	c.chunks(b)
	c.send(endOf(b))
	return c.result()
}
