// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"github.com/nervix-go/nervix/host/control"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/host/registry"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/shim"
	"github.com/nervix-go/nervix/wasm/instances"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// guestOptions are the flags about guests.
type guestOptions struct {
	max     int
	profile string
}

func (o *guestOptions) flags(f *pflag.FlagSet) {
	var lim engine.Limits
	lim.EnsureDefaults()
	f.IntVar(&o.max, "max-guests", lim.Stores, "the greatest number of live guest instances, one for each branch of a WASM processor")
	f.StringVar(&o.profile, "guest-profile", "auto", "layout of guest memory: guard (fastest code), dense (up to 100,000 guests) or auto")
}

func (o *guestOptions) check() error {
	if o.max < 1 {
		return usage("--max-guests is below 1")
	}
	if _, err := engine.ParseProfile(o.profile); err != nil {
		return usage(fmt.Sprintf("--guest-profile %q is unknown: use auto, guard or dense", o.profile))
	}
	return nil
}

// openGuests opens the engine that runs guests. Compiled modules are kept in the data folder.
func (n *node) openGuests() error {
	cache, err := n.dir.Sub("modules")
	if err != nil {
		return err
	}
	asked, err := engine.ParseProfile(n.options.guests.profile)
	if err != nil {
		return err
	}
	lim := engine.Limits{Stores: n.options.guests.max}
	lim.EnsureDefaults()
	profile := asked.Resolve(lim.Stores)
	n.guests, err = engine.New(engine.Config{
		Profile: profile, Limits: lim, CacheDir: cache, Compiler: guestCompiler(profile, lim), Observe: n.moduleReady,
	}, shim.Open)
	if err != nil {
		return err
	}
	n.modules = instances.New(n.guests, n.readModule)
	return nil
}

// moduleReady logs how the code of a module came to be, and once why it could not be taken from the cache (A18).
func (n *node) moduleReady(e engine.Event) {
	if e.Err != nil {
		return // whoever asked is told
	}
	n.options.log.Info("guest module is ready", "module", e.Module.String(), "cached", e.FromCache, "cache", e.Cause, "took", e.Took.String())
}

// readModule gives the bytes of a pinned file of the newest committed state.
func (n *node) readModule(_ context.Context, pin wasmproc.Pin) ([]byte, error) {
	ref := ident.Ref{Domain: pin.Domain, Kind: ident.KindResource, Name: pin.Resource}
	version := committedVersion(n.raft.State(), pin)
	if version == nil {
		return nil, fault.New(fault.ResourceVersionUnknown, "nervixd.readModule", ref, fmt.Sprintf("there is no completed version %d", pin.Version), nil)
	}
	file, size, err := n.resources.Open(version.Digest, pin.File)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	// One byte more than the engine takes shows that the file is too large; what it says of it is the engine's affair.
	var lim engine.Limits
	lim.EnsureDefaults()
	return io.ReadAll(io.LimitReader(file, min(int64(size), int64(lim.ModuleBytes)+1)))
}

func committedVersion(s *registry.State, pin wasmproc.Pin) *registry.Version {
	d := s.Domains[pin.Domain]
	if d == nil || d.Resources[pin.Resource] == nil {
		return nil
	}
	v := d.Resources[pin.Resource].Version(pin.Version)
	if v == nil || v.State != registry.VersionCompleted {
		return nil
	}
	return v
}

// moduleJudge judges modules for the control plane.
type moduleJudge struct{ modules *instances.Modules }

// Prepare implements control.Modules. The error has the shape of every failure of a guest (W-251).
func (j moduleJudge) Prepare(ctx context.Context, m control.ModuleBinding) error {
	pin := wasmproc.Pin{Domain: m.Processor.Domain, Resource: m.Resource, Version: m.Version, File: m.File}
	err := j.modules.Prepare(ctx, pin, m.MaxMemory)
	if err == nil {
		return nil
	}
	if f := (*wasmproc.Failure)(nil); errors.As(err, &f) {
		err = f.Cause
	}
	return &protocol.Failure{
		Processor: string(m.Processor.Name), Stage: protocol.StageCompilation, Resource: string(m.Resource), Version: m.Version, File: m.File, Cause: err,
	}
}
