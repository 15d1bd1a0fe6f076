// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// fed is a guest that has seen some batches and was flushed.
func (k *kit) fed(batches int) (*guest, error) {
	g, err := k.started(k.main())
	if err != nil {
		return nil, err
	}
	for i := range batches {
		if _, err := g.batch(made(g.scenario.schemas.Input, 5+i, uint64(i), false)); err != nil {
			return nil, err
		}
	}
	_, err = g.flush()
	return g, err
}

// savedState is the state of a guest that has seen some batches.
func (k *kit) savedState() ([]byte, error) {
	g, err := k.fed(4)
	if err != nil {
		return nil, err
	}
	state, err := g.dump()
	if err != nil {
		return nil, err
	}
	if len(state) == 0 {
		return nil, notApplicable("the guest saves no state")
	}
	return state, nil
}

func stateDump(k *kit) error {
	said, _, state, err := k.script(false)
	if err != nil {
		return err
	}
	again, _, saved, err := k.script(true)
	if err != nil {
		return err
	}
	switch {
	case again != said:
		return fail("saving after each call changes the output: %s", difference(said, again))
	case string(saved) != string(state):
		return fail("saving after each call changes the state")
	case len(state) > protocol.MaxBuffer:
		return fail("the state has %d bytes", len(state))
	}
	return nil
}

func stateRoundTrip(k *kit) error {
	state, err := k.savedState()
	if err != nil {
		return err
	}
	g, err := k.started(k.main())
	if err != nil {
		return err
	}
	if err := g.load(state); err != nil {
		return fail("the restore: %w", err)
	}
	again, err := g.dump()
	if err != nil {
		return err
	}
	if !bytes.Equal(state, again) {
		return fail("a restored instance saves other bytes (%d) than it got (%d)", len(again), len(state))
	}
	return nil
}

func stateContinues(k *kit) error {
	a, err := k.fed(4)
	if err != nil {
		return err
	}
	state, err := a.dump()
	if err != nil {
		return err
	}
	if len(state) == 0 {
		return notApplicable("the guest saves no state")
	}
	b, err := k.restored(a, a.scenario, state)
	if err != nil {
		return err
	}
	var said [2]string
	var saved [2][]byte
	for i, g := range []*guest{a, b} {
		for seed := range uint64(4) {
			one, err := g.batch(made(g.scenario.schemas.Input, 6, 100+seed, false))
			if err != nil {
				return err
			}
			said[i] += one
		}
		one, err := g.flush()
		if err != nil {
			return err
		}
		said[i] += one
		if saved[i], err = g.dump(); err != nil {
			return err
		}
	}
	switch {
	case said[0] != said[1]:
		return fail("the output of the restored instance differs: %s", difference(said[0], said[1]))
	case !bytes.Equal(saved[0], saved[1]):
		return fail("the restored instance saves other state after the same batches")
	}
	return nil
}

func stateTransient(k *kit) error {
	g, err := k.started(k.main())
	if err != nil {
		return err
	}
	for seed := range uint64(3) {
		if _, err := g.batch(made(g.scenario.schemas.Input, 4, seed, false)); err != nil {
			return err
		}
		state, err := g.dump()
		if err != nil {
			return err
		}
		if len(state) == 0 && seed == 2 {
			return notApplicable("the guest saves no state")
		}
		for token := uint64(firstToken); token < g.ledger.Next(); token++ {
			if bytes.Contains(state, binary.LittleEndian.AppendUint64(nil, token)) {
				return fail("the saved state holds the token of row %d", token-firstToken)
			}
		}
	}
	return nil
}

func stateEmpty(k *kit) error {
	g, err := k.started(k.main())
	if err != nil {
		return err
	}
	state, err := g.dump()
	if err != nil {
		return err
	}
	if len(state) == 0 {
		return notApplicable("a new instance saves no state, so its successor gets none")
	}
	next, err := k.started(k.main())
	if err != nil {
		return err
	}
	return next.load(state)
}

// spoiled are saved states that were damaged in one way each.
func spoiled(state []byte) map[string][]byte {
	n := len(state)
	turned := bytes.Clone(state)
	turned[0] ^= 0xFF
	all := map[string][]byte{
		"state of 0 bytes":           {},
		"state without its last":     state[:n-1],
		"half of the state":          state[:n/2],
		"the first byte of state":    state[:1],
		"state with bytes behind it": append(bytes.Clone(state), "0123456789abcdef"...),
		"state with another start":   turned,
		"zeros instead of state":     make([]byte, n),
		"text instead of state":      bytes.Repeat([]byte("no state at all! "), n/17+1),
	}
	return all
}

// refusals loads what must not be taken, each into an instance of its own.
func (k *kit) refusals(c scenario, all map[string][]byte, judge func(name string, err error) error) error {
	for _, name := range sorted(all) {
		g, err := k.started(c)
		if err != nil {
			return err
		}
		if err := judge(name, g.load(all[name])); err != nil {
			return err
		}
	}
	return nil
}

func notTaken(name string, err error) error {
	if err == nil {
		return fail("%s is taken", name)
	}
	return nil
}

func stateDamaged(k *kit) error {
	state, err := k.savedState()
	if err != nil {
		return err
	}
	return k.refusals(k.main(), spoiled(state), notTaken)
}

func stateVerdict(k *kit) error {
	state, err := k.savedState()
	if err != nil {
		return err
	}
	return k.refusals(k.main(), spoiled(state), func(name string, err error) error {
		f, ok := refused(err)
		if err == nil || ok && (f.Stage == protocol.StageSnapshotDecoding || f.Stage == protocol.StageStateRestoration) {
			return nil
		}
		return fail("%s is refused without a verdict, so that the branch cannot recover by itself: %w", name, err)
	})
}

// wrapped says whether saved state has the common wrapping.
func wrapped(state []byte) bool {
	_, err := protocol.DecodeSnapshot(state)
	return err == nil
}

func stateForeign(k *kit) error {
	state, err := k.savedState()
	if err != nil {
		return err
	}
	c := k.main()
	others := []scenario{c.with(func(c *scenario) { c.key = otherKey })}
	if c.key != "" {
		others = append(others, c.with(func(c *scenario) { c.key = "" }))
	} else {
		others[0].key = testKey
	}
	if wrapped(state) {
		others = append(others, c.with(func(c *scenario) { c.kind = "paced" }))
	}
	for _, m := range mutations(c.schemas) {
		others = append(others, c.with(func(c *scenario) { c.name, c.schemas = m.name, m.schemas }))
	}
	for _, o := range others {
		g, err := k.bare(k.module, o)
		if err != nil {
			return err
		}
		if err := g.init(); err != nil {
			var f *engine.Failure
			if !errors.As(err, &f) {
				return err
			}
			continue // such an instance cannot be
		}
		if g.load(state) == nil {
			return fail("state of branch %s, schemas `%s`, domain type %s is taken by branch %s, schemas `%s`, domain type %s", shown(c.key), c.name, c.kind, shown(o.key), o.name, o.kind)
		}
	}
	return nil
}

func shown(key string) string {
	if key == "" {
		return "none"
	}
	return key
}

func stateDomain(k *kit) error {
	state, err := k.savedState()
	if err != nil {
		return err
	}
	if !wrapped(state) {
		return notApplicable("the state has a format of the guest's own")
	}
	s, err := protocol.DecodeSnapshot(state)
	if err != nil {
		return err
	}
	if i, err := protocol.DecodeInit(s.Init); err != nil || !i.SameBranch(k.main().init()) {
		return fail("init_metadata of the snapshot is not the payload that the instance got: %w", errors.Join(err, fmt.Errorf("it names other schemas or another branch")))
	}
	g, err := k.started(k.main().with(func(c *scenario) { c.domain = "renamed" }))
	if err != nil {
		return err
	}
	return g.load(slices.Clone(state))
}
