// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/wasm/engine"
)

// Options say how a module is run.
type Options struct {
	// Open makes the backend: shim.Open.
	Open func(engine.BackendOptions) (engine.Backend, error)
	// Compiler compiles in another process, as it should for a module of a stranger: shim.Options.Isolated. nil: in this one.
	Compiler engine.Compiler
	// Profile of linear memory; a Compiler is made for one.
	Profile engine.Profile
	// Limits of the engine; the zero value means Limits().
	Limits engine.Limits
	// Schemas are those the guest was written for; nil: the kit tries its own.
	Schemas *Schemas
	// Fuel and Memory are the limits of an instance; zero means 20,000,000,000 and 1 GiB, so that only endless guests meet them.
	Fuel, Memory uint64
}

// Limits are those the kit runs under: the engine's own, with time for a slow machine.
func Limits() engine.Limits {
	l := engine.Limits{OperationTime: 20 * time.Second}
	l.EnsureDefaults()
	return l
}

// check is one question to a module.
type check struct {
	name, title  string
	requirements []string
	needs        need
	run          func(*kit) error
}

// need is what has to be known before a check makes sense.
type need uint8

const (
	needsModule need = iota // compiled code
	needsGuest              // an init payload that the guest accepts
	needsJob                // the reference job
)

// kit is one run.
type kit struct {
	ctx      context.Context
	wasm     []byte
	engine   *engine.Engine
	tap      *tap
	spec     engine.Spec
	module   *engine.Module
	swapped  *engine.Module
	offered  []scenario
	accepted []scenario
	open     []*guest // of the running check
}

// job is the name of the export by which a module says that it does the reference job.
const job = "nervix_reference_job_1"

// notApplicable is why a check has no object in a module.
type notApplicable string

func (n notApplicable) Error() string { return string(n) }

// Run checks a module. The error is for a file that is no readable module, and for an engine that cannot be started; whatever else is wrong with the
// module is in the report. The report has the same checks in the same order for every module.
func Run(ctx context.Context, wasm []byte, o Options) (*Report, error) {
	if _, err := engine.Inspect(wasm, o.limits()); err != nil {
		return unusable(err)
	}
	k, err := newKit(ctx, wasm, o)
	if err != nil {
		return nil, err
	}
	report := &Report{}
	for _, c := range checks() {
		report.Findings = append(report.Findings, k.one(c))
	}
	return report, k.close()
}

func (o *Options) limits() *engine.Limits {
	if o.Limits == (engine.Limits{}) {
		o.Limits = Limits()
	}
	o.Limits.EnsureDefaults()
	return &o.Limits
}

// newKit opens an engine and compiles the module.
func newKit(ctx context.Context, wasm []byte, o Options) (*kit, error) {
	if o.Fuel == 0 {
		o.Fuel = 20_000_000_000
	}
	if o.Memory == 0 {
		o.Memory = 1 << 30
	}
	k := &kit{ctx: ctx, wasm: wasm, tap: &tap{}, spec: engine.Spec{Fuel: o.Fuel, Memory: o.Memory}, offered: scenarios(o.Schemas)}
	var err error
	k.engine, err = engine.New(engine.Config{Profile: o.Profile, Limits: *o.limits(), Compiler: o.Compiler}, k.tap.open(o.Open))
	if err != nil {
		return nil, err
	}
	if k.module, err = k.engine.Acquire(ctx, wasm); err != nil {
		return nil, errors.Join(err, k.close())
	}
	return k, nil
}

// close frees everything.
func (k *kit) close() error {
	k.closeGuests()
	for _, m := range []*engine.Module{k.module, k.swapped} {
		if m != nil {
			m.Release()
		}
	}
	return k.engine.Close(context.WithoutCancel(k.ctx))
}

func (k *kit) closeGuests() {
	for _, g := range k.open {
		_ = g.Close() // fails only while a call runs
	}
	k.open = nil
}

// unusable reports a module that lacks an export or imports something else, and refuses a file that is no module.
func unusable(err error) (*Report, error) {
	report := &Report{}
	bad := map[fault.Code]string{fault.WasmImport: "module.imports", fault.WasmExport: "module.exports"}[fault.CodeOf(err)]
	if bad == "" {
		return nil, err
	}
	for _, c := range checks() {
		switch {
		case c.name == bad:
			report.Findings = append(report.Findings, c.finding(Fails, plain(err)))
		case c.name == "module.imports": // they stand before the exports in a module
			report.Findings = append(report.Findings, c.finding(Holds, ""))
		default:
			report.Findings = append(report.Findings, c.finding(NotApplicable, "the module cannot be run"))
		}
	}
	return report, nil
}

func (c *check) finding(o Outcome, detail string) Finding {
	return Finding{Check: c.name, Title: c.title, Outcome: o, Detail: detail, Requirements: c.requirements}
}

// one runs a check and closes its instances.
func (k *kit) one(c check) Finding {
	defer k.closeGuests()
	switch {
	case k.ctx.Err() != nil:
		return c.finding(NotApplicable, "the run was cancelled")
	case c.needs >= needsGuest && len(k.accepted) == 0:
		return c.finding(NotApplicable, "the guest accepted no init")
	case c.needs == needsJob && !has(k.wasm, job):
		return c.finding(NotApplicable, "the module does not export "+job)
	}
	err := c.run(k)
	var why notApplicable
	switch {
	case err == nil:
		return c.finding(Holds, "")
	case errors.As(err, &why):
		return c.finding(NotApplicable, string(why))
	default:
		return c.finding(Fails, plain(err))
	}
}

// main is the scenario that most checks use.
func (k *kit) main() scenario { return k.accepted[0] }

// permuted is the module in which nervix_flush and nervix_buffer_capacity are exchanged, so that a flush tells the capacity.
func (k *kit) permuted() (*engine.Module, error) {
	if k.swapped == nil {
		m, err := k.engine.Acquire(k.ctx, swapped(k.wasm, engine.Flush.String(), engine.BufferCapacity.String()))
		if err != nil {
			return nil, fmt.Errorf("the module with permuted exports: %w", err)
		}
		k.swapped = m
	}
	return k.swapped, nil
}
