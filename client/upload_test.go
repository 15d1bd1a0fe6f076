// SPDX-License-Identifier: Apache-2.0

package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/host/datadir"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/resource"
	"github.com/nervix-go/nervix/host/session/commands"
	"github.com/nervix-go/nervix/host/session/lanes"
	"github.com/nervix-go/nervix/host/session/transport"
	"github.com/nervix-go/nervix/host/session/uploads"
	"github.com/nervix-go/nervix/host/wire"
)

// receiver serves upload streams by a script; streams count from 1.
type receiver struct {
	n      atomic.Int64
	script func(n int, ctx context.Context, o transport.Opened, stream io.ReadWriter)
}

func (r *receiver) Upload(ctx context.Context, o transport.Opened, stream io.ReadWriter) {
	r.script(int(r.n.Add(1)), ctx, o, stream)
}

func tell(stream io.Writer, f wire.UploadServerBody) {
	frame, err := wire.EncodeUploadServer(f)
	if err == nil {
		_, _ = stream.Write(wire.AppendFrame(nil, frame))
	}
}

func hear(stream io.Reader) wire.UploadClientBody {
	frame, err := wire.ReadFrame(stream, wire.UploadFrameLimit)
	if err != nil {
		return nil
	}
	f, _ := wire.DecodeUploadClient(frame)
	return f
}

// accept answers the opening frame.
func accept(stream io.ReadWriter, version uint64) wire.UploadOpen {
	open, _ := hear(stream).(wire.UploadOpen)
	tell(stream, wire.UploadAccepted{Version: version})
	return open
}

// drain reads up to the end of the archive.
func drain(stream io.Reader) wire.UploadEnd {
	for {
		switch f := hear(stream).(type) {
		case wire.UploadChunk:
		case wire.UploadEnd:
			return f
		default:
			return wire.UploadEnd{}
		}
	}
}

func refuse(stream io.Writer, code fault.Code) {
	tell(stream, wire.UploadResult{Disposition: wire.DispositionFailed, Code: string(code), Text: "refused by the script", Hint: "none"})
}

type anybody struct{}

func (anybody) Authenticate(context.Context, string, string) error { return nil }

// listen starts a node that only takes uploads.
func listen(t *testing.T, dir *datadir.Dir, address string, up transport.Uploads) (*transport.Server, client.Config) {
	t.Helper()
	certificates, err := dir.Certificates(osclock.UTC())
	if err != nil {
		t.Fatal(err)
	}
	p := &plane{}
	s := transport.NewServer(transport.Config{Node: "n1", Incarnation: 1, TLS: &tls.Config{Certificates: []tls.Certificate{certificates.Server}},
		Authenticate: anybody{}, Uploads: up, Open: func(o transport.Opened) lanes.Handler { return commands.New(p, p, o.User, ident.Domain(o.Domain)) }})
	var at net.Addr
	for wait := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) { // the port of a node that stopped is not free at once
		if at, err = s.Listen(address, &certificates.ResetKey); err == nil || time.Now().After(wait) {
			break
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Abort()
		if err := s.Wait(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s, client.Config{Server: client.Scheme + "://" + at.String(), CAPEM: certificates.CAPEM, User: "admin", Domain: "weather", ConnectTimeout: time.Minute, CallTimeout: 2 * time.Minute}
}

func dataDir(t *testing.T) *datadir.Dir {
	t.Helper()
	dir, err := datadir.Open(t.TempDir(), osclock.UTC())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	return dir
}

// scripted is a client of a node that does what a script says.
func scripted(t *testing.T, change func(*client.Config), script func(n int, ctx context.Context, o transport.Opened, stream io.ReadWriter)) (*client.Client, *receiver) {
	t.Helper()
	r := &receiver{script: script}
	_, config := listen(t, dataDir(t), "127.0.0.1:0", r)
	if change != nil {
		change(&config)
	}
	return dial(t, config), r
}

func dial(t *testing.T, config client.Config) *client.Client {
	t.Helper()
	c, err := client.Dial(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// models makes a folder with one file of random bytes beside a small one and a link.
func models(t *testing.T, size int) string {
	t.Helper()
	dir := t.TempDir()
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b)
	for path, content := range map[string][]byte{"big.bin": b, "x/small.txt": []byte("small")} {
		path = filepath.Join(dir, path)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, content, 0o644))
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("big.bin", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestUpload(t *testing.T) {
	// req: X-261 half: progress of nodes is not there; that memory stays flat is shown in package uploads
	store, err := resource.Open(t.TempDir(), resource.Options{Reserve: 1})
	if err != nil {
		t.Fatal(err)
	}
	ledger := &ledger{}
	handler := uploads.New(uploads.Config{Control: ledger, Store: kept{store}})
	t.Cleanup(func() { _ = handler.Wait(context.Background()) })
	_, config := listen(t, dataDir(t), "127.0.0.1:0", handler)
	c := dial(t, config)
	const size = 300_000
	o := client.UploadOptions{Resource: "models", Directory: models(t, size)}
	var sent, total, calls int64
	o.Progress = func(s, all int64) {
		if s <= sent || s > all || total > 0 && total != all {
			t.Errorf("progress from %d/%d to %d/%d", sent, total, s, all)
		}
		sent, total = s, all
		calls++
	}
	out, err := c.Upload(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if out.Version != 1 || out.Files != 2 || out.Bytes != size+5 || out.Reference == "" || sent != total || uint64(total) != out.ArchiveBytes || calls < 4 {
		t.Fatalf("%+v after %d of %d in %d", out, sent, total, calls)
	}
	if len(out.Skipped) != 1 || out.Skipped[0] != (client.Skipped{Path: "link", Why: "a symbolic link"}) {
		t.Fatalf("%+v", out.Skipped)
	}
	ledger.mu.Lock()
	defer ledger.mu.Unlock()
	if ledger.request.Domain != "weather" || ledger.request.Resource != "models" || ledger.request.Reference.String() != out.Reference {
		t.Fatalf("%+v", ledger.request)
	}
	if got, err := store.Read(ledger.stored.Digest, "x/small.txt", 10); string(got) != "small" || err != nil {
		t.Fatal(err)
	}
}

// ledger admits everything as version 1.
type ledger struct {
	mu      sync.Mutex
	request uploads.Request
	stored  uploads.Stored
}

func (l *ledger) Admit(_ context.Context, r uploads.Request) (uploads.Admitted, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.request = r
	return uploads.Admitted{Version: 1}, nil
}

func (l *ledger) Complete(_ context.Context, _ uploads.Request, s uploads.Stored) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stored = s
	return nil
}

func (l *ledger) Fail(context.Context, uploads.Request, uint64) error { return nil }

type kept struct{ *resource.Store }

func (k kept) Receive(ctx context.Context, from io.Reader) (uploads.Received, error) {
	r, err := k.Store.Receive(ctx, from)
	if err != nil {
		return nil, err
	}
	return held{r}, nil
}

type held struct{ *resource.Received }

func (h held) Stored() uploads.Stored {
	v := h.Version()
	return uploads.Stored{Digest: v.Digest, ArchiveBytes: v.ArchiveBytes, Bytes: v.Bytes, Files: v.Files}
}

// TestUploadIsRepeated: after what is over soon the same upload goes again under the same reference.
func TestUploadIsRepeated(t *testing.T) {
	// req: X-259 half: the node's side is shown in package uploads
	end := make(chan wire.UploadEnd, 10)
	opens := make(chan wire.UploadOpen, 10)
	c, r := scripted(t, nil, func(n int, _ context.Context, _ transport.Opened, stream io.ReadWriter) {
		if n == 2 {
			open, _ := hear(stream).(wire.UploadOpen)
			opens <- open
			refuse(stream, fault.ResourceBusy)
			return
		}
		opens <- accept(stream, uint64(n))
		switch n {
		case 1: // the node vanishes after a chunk
			hear(stream)
		case 3: // the node does not know what became of it
			end <- drain(stream)
			tell(stream, wire.UploadResult{Disposition: wire.DispositionUnknown, Version: 3, Code: string(fault.ControlUncertain)})
		case 4: // the result is lost
			end <- drain(stream)
		default:
			end <- drain(stream)
			tell(stream, wire.UploadResult{Disposition: wire.DispositionCompleted, Version: 3})
		}
	})
	out, err := c.Upload(t.Context(), client.UploadOptions{Domain: "other", Resource: "models", Directory: models(t, 200_000)})
	if err != nil || out.Version != 3 || r.n.Load() != 5 {
		t.Fatalf("%+v %v after %d streams", out, err, r.n.Load())
	}
	for range 5 {
		if open := <-opens; open.Reference != out.Reference || open.Domain != "other" || open.Resource != "models" {
			t.Errorf("%+v", open)
		}
	}
	if a, b, c := <-end, <-end, <-end; a != b || b != c || a.ArchiveBytes != out.ArchiveBytes {
		t.Errorf("the archives differ: %+v %+v %+v", a, b, c)
	}
}

// TestUploadOutlivesTheNode: the node goes down in the middle, and comes back at the same address.
func TestUploadOutlivesTheNode(t *testing.T) {
	// req: X-259 half: the node's side is shown in package uploads
	dir := dataDir(t)
	reached := make(chan struct{})
	first, config := listen(t, dir, "127.0.0.1:0", &receiver{script: func(_ int, ctx context.Context, _ transport.Opened, stream io.ReadWriter) {
		accept(stream, 1)
		hear(stream)
		close(reached)
		<-ctx.Done()
	}})
	c := dial(t, config)
	go func() {
		<-reached
		first.Abort()
	}()
	done := make(chan error)
	var out client.UploadOutcome
	directory := models(t, 5<<20)
	go func() {
		var err error
		out, err = c.Upload(t.Context(), client.UploadOptions{Resource: "models", Directory: directory})
		done <- err
	}()
	<-reached
	if err := first.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	listen(t, dir, config.Server[len(client.Scheme+"://"):], &receiver{script: func(_ int, _ context.Context, _ transport.Opened, stream io.ReadWriter) {
		accept(stream, 2)
		drain(stream)
		tell(stream, wire.UploadResult{Disposition: wire.DispositionCompleted, Version: 2})
	}})
	if err := <-done; err != nil || out.Version != 2 {
		t.Fatal(out, err)
	}
}

// TestUploadIsRefused: a refusal that stays is told at once, also when the node says it in the middle.
func TestUploadIsRefused(t *testing.T) {
	for name, script := range map[string]func(stream io.ReadWriter){
		"before":     func(stream io.ReadWriter) { hear(stream); refuse(stream, fault.ResourceDiskFull) },
		"the middle": func(stream io.ReadWriter) { accept(stream, 1); hear(stream); refuse(stream, fault.ResourceDiskFull) },
		"the end":    func(stream io.ReadWriter) { accept(stream, 1); drain(stream); refuse(stream, fault.ResourceDiskFull) },
	} {
		t.Run(name, func(t *testing.T) {
			c, r := scripted(t, nil, func(_ int, _ context.Context, _ transport.Opened, stream io.ReadWriter) { script(stream) })
			_, err := c.Upload(t.Context(), client.UploadOptions{Resource: "models", Directory: models(t, 8<<20)})
			var e *client.Error
			if !errors.Is(err, client.ErrUpload) || !fault.Has(err, fault.ResourceDiskFull) || !errors.As(err, &e) || e.Reference == "" || r.n.Load() != 1 {
				t.Fatal(err, r.n.Load())
			}
		})
	}
}

// TestUploadStaysUnknown: when the result cannot be learned in time, the error says so and names the reference.
func TestUploadStaysUnknown(t *testing.T) {
	c, _ := scripted(t, func(c *client.Config) { c.CallTimeout = 3 * time.Second }, func(n int, _ context.Context, _ transport.Opened, stream io.ReadWriter) {
		if n == 1 {
			accept(stream, 1)
			drain(stream) // the result is lost
			return
		}
		hear(stream)
		refuse(stream, fault.ResourceBusy)
	})
	_, err := c.Upload(t.Context(), client.UploadOptions{Resource: "models", Directory: models(t, 1000)})
	var e *client.Error
	if !errors.Is(err, client.ErrUncertain) || !errors.As(err, &e) || len(e.Reference) != 36 {
		t.Fatal(err)
	}
}

func TestUploadIsGivenUp(t *testing.T) {
	begun := make(chan struct{}, 10)
	broken := make(chan struct{}, 10)
	c, _ := scripted(t, nil, func(_ int, _ context.Context, _ transport.Opened, stream io.ReadWriter) {
		accept(stream, 1)
		begun <- struct{}{}
		drain(stream)
		broken <- struct{}{}
	})
	directory := models(t, 8<<20)
	t.Run("by the caller", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		o := client.UploadOptions{Resource: "models", Directory: directory, Progress: func(sent, _ int64) {
			if sent > 1<<20 {
				cancel()
			}
		}}
		_, err := c.Upload(ctx, o)
		if !errors.Is(err, client.ErrCancelled) || !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		<-begun
		<-broken
	})
	t.Run("before it began", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.Upload(ctx, client.UploadOptions{Resource: "models", Directory: directory}); !errors.Is(err, client.ErrCancelled) {
			t.Fatal(err)
		}
	})
	t.Run("with the client", func(t *testing.T) {
		done := make(chan error)
		go func() {
			_, err := c.Upload(t.Context(), client.UploadOptions{Resource: "models", Directory: directory, Progress: func(sent, _ int64) {
				if sent == 64<<10 {
					go c.Close()
				}
			}})
			done <- err
		}()
		if err := <-done; !errors.Is(err, client.ErrClosed) {
			t.Fatal(err)
		}
		<-broken
	})
}

// TestUploadOfABadFolder sends nothing.
func TestUploadOfABadFolder(t *testing.T) {
	c, r := scripted(t, nil, func(_ int, _ context.Context, _ transport.Opened, stream io.ReadWriter) {})
	_, err := c.Upload(t.Context(), client.UploadOptions{Resource: "models", Directory: filepath.Join(t.TempDir(), "nothing")})
	if !errors.Is(err, client.ErrUpload) || !fault.Has(err, fault.ResourceFolder) || !errors.Is(err, os.ErrNotExist) || r.n.Load() != 0 {
		t.Fatal(err)
	}
}

func TestUploadProtocol(t *testing.T) {
	for name, script := range map[string]func(stream io.ReadWriter){
		"garbage": func(stream io.ReadWriter) { hear(stream); _, _ = stream.Write([]byte("\x08\x00\x00\x00garbage!")) },
		"accepted twice": func(stream io.ReadWriter) {
			accept(stream, 1)
			drain(stream)
			tell(stream, wire.UploadAccepted{Version: 1})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, r := scripted(t, nil, func(_ int, _ context.Context, _ transport.Opened, stream io.ReadWriter) { script(stream) })
			_, err := c.Upload(t.Context(), client.UploadOptions{Resource: "models", Directory: models(t, 1000)})
			if !errors.Is(err, client.ErrProtocol) || r.n.Load() != 1 {
				t.Fatal(err, r.n.Load())
			}
		})
	}
	t.Run("no uploads", func(t *testing.T) {
		_, config := listen(t, dataDir(t), "127.0.0.1:0", nil)
		_, err := dial(t, config).Upload(t.Context(), client.UploadOptions{Resource: "models", Directory: models(t, 10)})
		if !errors.Is(err, client.ErrRejected) {
			t.Fatal(err)
		}
	})
}

// TestUploadsAtOnce: one client may send several folders at once; more than the node takes of a session wait.
func TestUploadsAtOnce(t *testing.T) {
	var now, most atomic.Int64
	c, _ := scripted(t, nil, func(n int, _ context.Context, _ transport.Opened, stream io.ReadWriter) {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		accept(stream, uint64(n))
		drain(stream)
		tell(stream, wire.UploadResult{Disposition: wire.DispositionCompleted, Version: uint64(n)})
	})
	directory := models(t, 500_000)
	var work sync.WaitGroup
	var versions sync.Map
	for range transport.MaxUploads + 3 {
		work.Go(func() {
			out, err := c.Upload(t.Context(), client.UploadOptions{Resource: "models", Directory: directory})
			if err != nil {
				t.Error(err)
				return
			}
			if _, twice := versions.LoadOrStore(out.Version, out.Reference); twice {
				t.Errorf("version %d was told twice", out.Version)
			}
		})
	}
	work.Wait()
	if most.Load() > transport.MaxUploads {
		t.Errorf("%d streams at once", most.Load())
	}
}
