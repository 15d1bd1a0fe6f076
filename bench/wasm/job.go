// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"

	"github.com/nervix-go/nervix/bench/guests"
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/shim"
)

// modules is where the built guests are; the program runs in the root of the repository.
const modules = "wasm/guest/testdata"

// floor is an engine with the guests it can run.
type floor struct {
	engine *engine.Engine
	wasmproc.Modules
}

func openFloor(profile engine.Profile, o shim.Options, stores int) floor {
	e := openEngine(setup{profile: profile, open: o.Open}, stores)
	return floor{e, guests.Modules(e, modules)}
}

// ways are the contenders of one job on one number of rows.
type ways struct {
	world                   *guests.World
	guard, unmetered, dense floor
	wazero                  *wazero // nil where it could not be built
	close                   []func()
}

func (x *ways) node(name string, f *guests.Feed, end func() error, rows int) contender {
	f.Prepare([]*batch.Key{x.world.Key(0)}, rows)
	given := int64(0)
	x.close = append(x.close, func() {
		fail(f.Check(given, given*int64(rows)))
		fail(end())
	})
	return here(name, func(n int) {
		given += int64(n)
		f.Work(n)
	})
}

func (x *ways) processor(name, plan string, m wasmproc.Modules, rows int) contender {
	p, err := x.world.NewProcessor(plan, m)
	fail(err)
	return x.node(name, p.Feed, p.Close, rows)
}

func (x *ways) direct(name, plan string, m wasmproc.Modules, rows int) contender {
	d, err := guests.NewDirect(x.world, m, plan, rows)
	fail(err)
	x.close = append(x.close, d.Close)
	return here(name, d.Work)
}

// Names of contenders that others are compared with or that goals speak of.
const (
	loopInGo     = "loop in Go"
	inJunction   = "junction"
	inProcessor  = "processor, guard"
	guestAlone   = "guest alone, guard"
	hostAlone    = "processor, recorded guest"
	plainWazero  = "wazero"
	wazeroBroken = "wazero, interruptible"
)

// of gives the contenders of a job. A junction that does it is named if there is one; a guest with a state cannot be played back.
func (x *ways) of(plan, junction string, rows int) []contender {
	plain, err := guests.NewPlain(x.world, plan, rows)
	fail(err)
	all := []contender{here(loopInGo, plain.Work)}
	if junction != "" {
		j := x.world.NewJunction(junction)
		all = append(all, x.node(inJunction, j.Feed, j.Close, rows))
	}
	all = append(all, x.processor(inProcessor, plan, x.guard, rows), x.processor("processor, dense", plan, x.dense, rows))
	if junction != "" {
		recorded, err := guests.Record(x.world, x.guard, plan, rows)
		fail(err)
		all = append(all, x.processor(hostAlone, plan, recorded, rows))
	}
	all = append(all, x.direct(guestAlone, plan, x.guard, rows), x.direct("guest alone, dense", plan, x.dense, rows),
		x.direct("guest alone, guard, unmetered", plan, x.unmetered, rows))
	if x.wazero == nil {
		return all
	}
	for _, mode := range [][2]string{{plainWazero, "free"}, {wazeroBroken, "interrupt"}} {
		c, err := x.wazero.contender(x.world, mode[0], plan, rows, mode[1])
		fail(err)
		all = append(all, c)
	}
	return all
}

func (x *ways) end() {
	for _, f := range x.close {
		f()
	}
	x.close = nil
}

func openWays() *ways {
	w, err := guests.NewWorld()
	fail(err)
	x := &ways{
		world: w, guard: openFloor(engine.ProfileGuard, shim.Options{}, 100), dense: openFloor(engine.ProfileDense, shim.Options{}, 100),
		unmetered: openFloor(engine.ProfileGuard, shim.Options{WithoutFuel: true, WithoutEpoch: true}, 100),
	}
	if x.wazero, err = startWazero(); err != nil {
		fmt.Fprintln(os.Stderr, "without wazero:", err)
		x.wazero = nil
	}
	return x
}

func (x *ways) shut() {
	fail(x.world.Close())
	for _, f := range []floor{x.guard, x.dense, x.unmetered} {
		fail(f.engine.Close(context.Background()))
	}
	if x.wazero != nil {
		x.wazero.close()
	}
}

// job compares the ways to do the same job, on one core.
func job() {
	x := openWays()
	for _, j := range []struct{ what, plan, junction string }{
		{"pass-through by reference", "copying", "copy"},
		{"pass-through and one generated column", "numbering", "number"},
		{"running mean, two generated columns", "counting", ""},
	} {
		fmt.Printf("\n| %s | rows | us a batch | 10 %% to 90 %% | million rows/s | allocations | KiB allocated | x junction | x loop in Go |\n|---|---|---|---|---|---|---|---|---|\n", j.what)
		for _, rows := range []int{64, 1024, 8192} {
			figures := compare(21, x.of(j.plan, j.junction, rows))
			for _, f := range figures {
				fmt.Printf("| %s | %d | %s | %s to %s | %.1f | %.1f | %.1f | %s | %s |\n", f.name, rows, us(f.ns), us(f.low), us(f.high), float64(rows)*1e3/f.ns,
					f.allocs, f.bytes/1024, beside(f, figures, inJunction), beside(f, figures, loopInGo))
			}
			if rows == 8192 {
				noteJob(j.plan, rows, figures)
			}
			x.end()
		}
	}
	x.shut()
}

// beside is how many times the work of a named contender a figure takes.
func beside(f figure, all []figure, name string) string {
	for _, o := range all {
		if o.name == name {
			return fmt.Sprintf("%.2f", f.times(o))
		}
	}
	return ""
}

func noteJob(plan string, rows int, figures []figure) {
	for _, f := range figures {
		for key, name := range map[string]string{"processor": inProcessor, "guest": guestAlone, "junction": inJunction} {
			if f.name == name {
				note(plan+" "+key, "%.1f million", float64(rows)*1e3/f.ns)
				note(plan+" "+key+" x", "%s", beside(f, figures, loopInGo))
			}
		}
	}
}
