// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"fmt"

	"github.com/nervix-go/nervix/wasm/protocol"
)

// jobScenario is the reference job under a key; empty: unbranched.
func jobScenario(key string) scenario {
	return scenario{name: "job", schemas: jobOwn, domain: testDomain, kind: testKind, key: key}
}

// worker is a guest beside the model of the job.
type worker struct {
	*guest
	model *jobModel
}

func (k *kit) worker(key string) (*worker, error) {
	g, err := k.started(jobScenario(key))
	return &worker{g, &jobModel{key: key}}, err
}

// works delivers rows without commands to both.
func (w *worker) works(rows ...jobInput) error {
	batch := jobBatch(jobOwn, rows)
	first := w.ledger.Next()
	got, err := w.batch(batch)
	if err != nil {
		return err
	}
	want, asks := w.model.accept(batch, first, w.now)
	if err := agree("a batch", want, got); err != nil {
		return err
	}
	due, armed := w.timers[w.model.handles]
	if asks && (!armed || due != w.now+1_000_000_000) {
		return fail("no timeout of one second is asked for when the buffer begins")
	}
	if w.NextHandle() != w.model.handles+1 {
		return fail("%d timeouts were asked for instead of %d", w.NextHandle()-1, w.model.handles)
	}
	return nil
}

func agree(what, want, got string) error {
	if want == got {
		return nil
	}
	return fail("%s: %s", what, difference(want, got))
}

func (w *worker) fires(handle, at int64) error {
	got, err := w.timeout(handle, at)
	if err != nil {
		return err
	}
	return agree(fmt.Sprintf("timeout %d", handle), w.model.timeout(handle, w.now), got)
}

func (w *worker) flushes() error {
	got, err := w.flush()
	if err != nil {
		return err
	}
	return agree("a flush", w.model.release(w.now), got)
}

// saves saves, checks the bytes, and gives them.
func (w *worker) saves() ([]byte, error) {
	state, err := w.dump()
	if err != nil {
		return nil, err
	}
	s, err := protocol.DecodeSnapshot(state)
	if err != nil {
		return nil, err
	}
	init, err := w.scenario.message()
	switch {
	case err != nil:
		return nil, err
	case !bytes.Equal(s.Init, init):
		return nil, fail("init_metadata is not the message that init got")
	case !bytes.Equal(s.State, w.model.state()):
		return nil, fail("the application state is % x instead of % x", s.State, w.model.state())
	}
	return state, nil
}

// succeeds replaces the instance by one that takes over its state. Inputs it still buffered are the host's to decide.
func (w *worker) succeeds(k *kit) error {
	state, err := w.saves()
	if err != nil {
		return err
	}
	old := w.guest
	next, err := k.restored(old, old.scenario, state)
	if err != nil {
		return err
	}
	w.guest, w.model = next, w.model.successor()
	w.model.handles = w.NextHandle() - 1
	_, err = w.saves()
	return err
}

func jobInit(k *kit) error {
	c := jobScenario(testKey)
	for _, m := range mutations(jobOwn) {
		g, err := k.bare(k.module, c.with(func(c *scenario) { c.schemas = m.schemas }))
		if err != nil {
			return err
		}
		want := "the outputs are not those of the reference job"
		if m.schemas.Input != jobOwn.Input {
			want = "the input schema is not that of the reference job"
		}
		if err := rejects(g.init(), protocol.StageInitialization, "-6", want); err != nil {
			return fail("%s: %w", m.name, err)
		}
	}
	turned := &Schemas{Input: jobOwn.Input, Routes: []protocol.Route{jobOwn.Routes[1], jobOwn.Routes[0]}}
	g, err := k.started(c.with(func(c *scenario) { c.schemas = turned }))
	if err != nil {
		return fail("outputs in the other order: %w", err)
	}
	w := &worker{g, &jobModel{key: testKey}}
	for range 3 {
		if err := w.works(jobInput{sensor: "north"}); err != nil {
			return fail("outputs in the other order: %w", err)
		}
	}
	return nil
}

// rejects holds a failure to its stage, the code the guest answered, and its reason.
func rejects(err error, stage protocol.Stage, code, reason string) error {
	f, ok := refused(err)
	switch {
	case err == nil:
		return fail("it is accepted")
	case !ok:
		return err
	case f.Stage != stage:
		return fail("it fails in the stage `%s` instead of `%s`", f.Stage, stage)
	case f.Reason != reason:
		return fail("the reason is `%s` instead of `%s`", cut(f.Reason), reason)
	case code != "" && !bytes.Contains([]byte(f.Error()), []byte(code)):
		return fail("the answer is not %s: %w", code, err)
	}
	return nil
}

func number(n int64) *int64 { return &n }

// jobExamples are those of section 6 of the page.
func jobExamples(k *kit) error {
	w, err := k.worker(testKey)
	if err != nil {
		return err
	}
	steps := []func() error{
		func() error {
			return w.works(jobInput{"north", number(20), 7}, jobInput{"south", nil, 8})
		},
		func() error {
			return w.works(jobInput{"", number(5), 9}, jobInput{"east", number(-1), 9})
		},
		func() error { return w.works(jobInput{"west", nil, 10}) },
		func() error { return w.fires(1, w.now+5) },
		func() error { return w.works(jobInput{"south", number(1), 11}) },
		func() error { return w.fires(2, w.timers[2]) },
		func() error { return w.succeeds(k) },
		func() error { return w.works(jobInput{"north", nil, 12}) },
		w.flushes,
	}
	for i, step := range steps {
		if err := step(); err != nil {
			return fail("step %d: %w", i+1, err)
		}
	}
	return nil
}

// jobModelCalls is how many random calls are compared.
const jobModelCalls = 400

func jobModelRuns(k *kit, key string, d *dice) error {
	w, err := k.worker(key)
	if err != nil {
		return err
	}
	sensors := []string{"north", "south", "", "\u00f6st", "w", "a rather long name of a sensor, to move buffers about"}
	for i := range jobModelCalls / 2 {
		switch roll := d.below(100); {
		case roll < 70:
			rows := make([]jobInput, d.below(6))
			for j := range rows {
				rows[j] = jobInput{sensor: sensors[d.below(len(sensors))], at: int64(d.next())}
				if d.below(4) > 0 {
					rows[j].value = number(int64(d.below(50)) - 10)
				}
			}
			err = w.works(rows...)
		case roll < 80:
			if handle, at, ok := w.due(); ok {
				err = w.fires(handle, at)
			}
		case roll < 84:
			err = w.fires(int64(d.below(300)), w.now)
		case roll < 92:
			err = w.flushes()
		case roll < 96:
			_, err = w.saves()
		default:
			err = w.succeeds(k)
		}
		if err != nil {
			return fail("call %d: %w", i+1, err)
		}
	}
	return nil
}

func jobModelCheck(k *kit) error {
	d := dice(1)
	if err := jobModelRuns(k, testKey, &d); err != nil {
		return err
	}
	return jobModelRuns(k, "", &d)
}

func jobFailures(k *kit) error {
	w, err := k.worker(testKey)
	if err != nil {
		return err
	}
	if err := w.works(jobInput{sensor: "north"}, jobInput{sensor: "south"}); err != nil {
		return err
	}
	before, err := w.saves()
	if err != nil {
		return err
	}
	command := func(sensor string) error {
		_, err := w.batch(jobBatch(jobOwn, []jobInput{{sensor: "east"}, {sensor: "!other"}, {sensor: sensor}, {sensor: "!trap"}}))
		return err
	}
	if err := rejects(command("!fail"), protocol.StageBatch, "-6", "row 2 of the batch asks for a failure"); err != nil {
		return fail("!fail: %w", err)
	}
	if err := rejects(command("!report"), protocol.StageBatch, "", "row 2 of the batch reports an error"); err != nil {
		return fail("!report: %w", err)
	}
	after, err := w.saves()
	if err != nil {
		return err
	}
	if !bytes.Equal(before, after) {
		return fail("failed batches change the saved state")
	}
	for range 2 {
		if err := w.works(jobInput{sensor: "west"}); err != nil {
			return fail("after failures: %w", err)
		}
	}
	if err := w.works(jobInput{sensor: "x"}); err != nil {
		return err
	}
	saved, err := w.saves()
	if err != nil {
		return err
	}
	err = command("!trap")
	if _, ok := refused(err); ok || err == nil {
		return fail("!trap does not trap")
	}
	next, err := k.restored(w.guest, w.scenario, saved)
	if err != nil {
		return err
	}
	w.guest, w.model = next, w.model.successor()
	w.model.handles = next.NextHandle() - 1
	return w.works(jobInput{sensor: "after the trap"})
}

func jobState(k *kit) error {
	w, err := k.worker(testKey)
	if err != nil {
		return err
	}
	if _, err := w.saves(); err != nil {
		return err
	}
	if err := w.works(jobInput{sensor: "north"}, jobInput{sensor: ""}); err != nil {
		return err
	}
	buffered, err := w.saves()
	if err != nil {
		return err
	}
	if err := w.flushes(); err != nil {
		return err
	}
	released, err := w.saves()
	if err != nil {
		return err
	}
	if !bytes.Equal(buffered, released) {
		return fail("the saved bytes differ with and without buffered input")
	}
	init, err := w.scenario.message()
	if err != nil {
		return err
	}
	wrong := []struct {
		state  []byte
		reason string
	}{
		{nil, "the state has 0 bytes instead of 9"},
		{make([]byte, 8), "the state has 8 bytes instead of 9"},
		{make([]byte, 1000), "the state has 1000 bytes instead of 9"},
		{append([]byte{2}, make([]byte, 8)...), "the state has version 2 instead of 1"},
		{append([]byte{255}, make([]byte, 8)...), "the state has version 255 instead of 1"},
	}
	for _, one := range wrong {
		state, err := protocol.EncodeSnapshot(protocol.Snapshot{Init: init, State: one.state})
		if err != nil {
			return err
		}
		g, err := k.started(w.scenario)
		if err != nil {
			return err
		}
		if err := rejects(g.load(state), protocol.StageStateRestoration, "", one.reason); err != nil {
			return err
		}
	}
	return nil
}
