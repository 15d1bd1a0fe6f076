// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"slices"
	"strconv"

	"github.com/nervix-go/nervix/wasm/engine"
)

func atoi(s string) int {
	n, _ := strconv.Atoi(s) // our own rendering
	return n
}

func itoa(n int) string { return strconv.Itoa(n) }

func timeoutDelivered(k *kit) error {
	g, err := k.started(k.main())
	if err != nil {
		return err
	}
	delivered := 0
	for seed := range uint64(6) {
		if _, err := g.batch(made(g.scenario.schemas.Input, 3, seed, false)); err != nil {
			return err
		}
		for range 3 { // a guest may arm its next timeout in each
			handle, at, ok := g.due()
			if !ok {
				break
			}
			delivered++
			if _, err := g.timeout(handle, at); err != nil {
				return fail("timeout %d: %w", handle, err)
			}
		}
	}
	if delivered == 0 {
		return notApplicable("the guest asks for no timeouts")
	}
	_, err = g.flush()
	return err
}

func timeoutUnknown(k *kit) error {
	g, err := k.started(k.main())
	if err != nil {
		return err
	}
	for _, handle := range []int64{1 << 40, 0, -1, 77} {
		if _, err := g.batch(made(g.scenario.schemas.Input, 2, 1, false)); err != nil {
			return err
		}
		if _, armed := g.timers[handle]; armed {
			continue
		}
		if _, err := g.timeout(handle, g.now); err != nil {
			if f, ok := refused(err); !ok || f.Export != engine.OnTimeout {
				return fail("handle %d: %w", handle, err)
			}
		}
	}
	_, err = g.flush()
	return err
}

// script runs a fixed sequence of calls and gives what was said, what each call cost, and the state at the end. With saves, the state is
// saved after each call, which must not make a difference.
func (k *kit) script(saves bool) (said string, fuel []uint64, state []byte, err error) {
	g, err := k.started(k.main())
	if err != nil {
		return "", nil, nil, err
	}
	step := func(s string, stepErr error) {
		said += s
		if err == nil {
			err = stepErr
		}
		if saves && err == nil {
			n := len(g.fuel)
			_, err = g.dump()
			g.fuel = g.fuel[:n]
		}
	}
	for i, rows := range []int{3, 20, 1, 0, 5} {
		step(g.batch(made(g.scenario.schemas.Input, rows, uint64(i), i == 1)))
		if handle, at, ok := g.due(); ok && i == 3 {
			step(g.timeout(handle, at))
		}
	}
	step(g.flush())
	if err != nil {
		return "", nil, nil, err
	}
	state, err = g.dump()
	return said, g.fuel, state, err
}

func costSame(k *kit) error {
	said, fuel, state, err := k.script(false)
	if err != nil {
		return err
	}
	for range 2 {
		again, cost, saved, err := k.script(false)
		if err != nil {
			return err
		}
		if again != said {
			return fail("the output differs from that of an instance with the same calls: %s", difference(said, again))
		}
		if string(saved) != string(state) {
			return fail("the saved state differs from that of an instance with the same calls")
		}
		if !slices.Equal(fuel, cost) {
			return fail("the calls cost %d units of fuel on one instance and %d on another", fuel, cost)
		}
	}
	return nil
}

func costMemory(k *kit) error {
	g, err := k.started(k.main())
	if err != nil {
		return err
	}
	g.mute = true
	rows := made(g.scenario.schemas.Input, 64, 1, false)
	var before uint64
	for i := range 500 {
		if _, err := g.batch(rows); err != nil {
			return err
		}
		if _, err := g.dump(); err != nil {
			return err
		}
		if i%3 == 2 {
			if _, err := g.flush(); err != nil {
				return err
			}
		}
		if i == 200 {
			before = g.MemoryBytes()
		}
	}
	if after := g.MemoryBytes(); after > before+max(before/4, 1<<20) {
		return fail("the memory grew from %d to %d bytes over 300 equal batches", before, after)
	}
	return nil
}
