// SPDX-License-Identifier: Apache-2.0

package shim_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/reference"
	"github.com/nervix-go/nervix/wasm/engine/shim"
	"github.com/nervix-go/nervix/wasm/engine/watguest"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == compileArgument {
		compileChild()
	}
	if text := os.Getenv(childVariable); text != "" {
		child(text)
	}
	goleak.VerifyTestMain(m)
}

// soak is n in the long run and normal otherwise.
func soak(normal, long int) int {
	if os.Getenv("NERVIX_SOAK") != "" {
		return long
	}
	return normal
}

var now = vtime.LogicalFromNS(1_700_000_000_000_000_007)

var plain = engine.Spec{Fuel: 10_000_000, Memory: 4 << 20}

// world is an engine and what a test opened in it.

type world struct {
	*testing.T
	*engine.Engine
}

type opener func(engine.BackendOptions) (engine.Backend, error)

func open(t *testing.T, c engine.Config, backend opener) world {
	t.Helper()
	e, err := engine.New(c, backend)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := osclock.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if err := e.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return world{t, e}
}

// variants are the engines that every guest must find the same.
var variants = []struct {
	name    string
	profile engine.Profile
	open    opener
}{
	{"guard", engine.ProfileGuard, shim.Open},
	{"dense", engine.ProfileDense, shim.Open},
	{"reference", engine.ProfileGuard, reference.Open},
}

// each runs a test on all variants.
func each(t *testing.T, lim engine.Limits, f func(world)) {
	t.Helper()
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) { f(open(t, engine.Config{Profile: v.profile, Limits: lim}, v.open)) })
	}
}

func wasm(t testing.TB, g watguest.Guest) []byte {
	t.Helper()
	b, err := shim.ModuleText(g.Text())
	if err != nil {
		t.Fatalf("%v\n%s", err, g.Text())
	}
	return b
}

func (w world) module(g watguest.Guest) *engine.Module {
	w.Helper()
	m, err := w.Acquire(context.Background(), wasm(w.T, g))
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(m.Release) // before the engine closes
	return m
}

func (w world) instance(g watguest.Guest, spec engine.Spec) *engine.Instance {
	w.Helper()
	i, err := w.module(g).Instantiate(spec, now)
	if err != nil {
		w.Fatal(err)
	}
	return i
}

// want fails unless err is a *Failure with code, and gives it.
func want(t testing.TB, err error, code fault.Code) *engine.Failure {
	t.Helper()
	var f *engine.Failure
	if !errors.As(err, &f) || fault.CodeOf(err) != code {
		t.Fatalf("got error %v, want code %s", err, code)
	}
	return f
}

func (w world) batch(i *engine.Instance, payload string) (string, error) {
	i.Begin(engine.OpBatch, now)
	a, err := i.Deliver(engine.ProcessBatch, []byte(payload))
	return string(a.Output.Bytes()), err
}
