// SPDX-License-Identifier: Apache-2.0

package instances_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/shim"
	"github.com/nervix-go/nervix/wasm/engine/watguest"
	"github.com/nervix-go/nervix/wasm/instances"
	"github.com/nervix-go/nervix/wasm/protocol"
)

func TestMain(m *testing.M) {
	// The library sets a signal stack up for each thread and never ends; nothing of it is a goroutine.
	goleak.VerifyTestMain(m)
}

var now = vtime.LogicalFromNS(1_700_000_000_000_000_007)

// files are modules by path.
type files map[string][]byte

var errNoFile = errors.New("there is no such file in the version")

func (f files) read(_ context.Context, pin wasmproc.Pin) ([]byte, error) {
	if b, ok := f[pin.File]; ok {
		return b, nil
	}
	return nil, errNoFile
}

func open(t testing.TB, lim engine.Limits) *engine.Engine {
	t.Helper()
	e, err := engine.New(engine.Config{Limits: lim}, shim.Open)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func shut(t testing.TB, e *engine.Engine) {
	t.Helper()
	ctx, cancel := osclock.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := e.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
}

func wat(t testing.TB, g watguest.Guest) []byte {
	t.Helper()
	b, err := shim.ModuleText(g.Text())
	if err != nil {
		t.Fatalf("%v\n%s", err, g.Text())
	}
	return b
}

// guestOf makes an instance of a guest in an engine of its own.
func guestOf(t testing.TB, w watguest.Guest, limits wasmproc.Limits) wasmproc.Guest {
	t.Helper()
	e := open(t, engine.Limits{})
	t.Cleanup(func() { shut(t, e) })
	m, err := instances.New(e, files{"g": wat(t, w)}.read).Acquire(context.Background(), wasmproc.Pin{File: "g"})
	if err != nil {
		t.Fatal(err)
	}
	g, err := m.Instantiate(limits, now)
	m.Release() // the instance keeps the code
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	return g
}

func wantFailure(t testing.TB, err error, want wasmproc.Failure, cause string) {
	t.Helper()
	var f *wasmproc.Failure
	if !errors.As(err, &f) {
		t.Fatalf("%v is no failure", err)
	}
	if f.Stage != want.Stage || f.Export != want.Export || f.Gone != want.Gone || f.Reason != want.Reason || protocol.Plain(f.Cause) != cause {
		t.Fatalf("%q %q gone %v, reason %q: %s\nwant %q %q gone %v, reason %q: %s", f.Stage, f.Export, f.Gone, f.Reason, protocol.Plain(f.Cause), want.Stage, want.Export, want.Gone,
			want.Reason, cause)
	}
}
