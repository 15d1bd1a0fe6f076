// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"math"

	"github.com/nervix-go/nervix/wasm/engine"
)

// capacity asks a guest of the permuted module what nervix_buffer_capacity answers.
func (g *guest) capacity() (int64, error) {
	res := g.direct(engine.Flush, 0, 0)
	if res.Status != engine.StatusOK || res.Emitted { // an answer of 0 looks like an empty flush, and the next emit is read
		return 0, fail("nervix_buffer_capacity does not answer with a capacity")
	}
	return res.Code, nil
}

// buffered is a guest of the permuted module after init.
func (k *kit) buffered() (*guest, error) {
	m, err := k.permuted()
	if err != nil {
		return nil, err
	}
	g, err := k.bare(m, k.main())
	if err == nil {
		err = g.init()
	}
	return g, err
}

// granted asks for a size and checks the answer against the guest's other exports and its memory.
func (g *guest) granted(size uint32) (engine.Result, error) {
	res := g.grant(size)
	if res.Status != engine.StatusOK {
		return res, fail("nervix_alloc(%d) is not answered with a range inside the memory", size)
	}
	at := g.direct(engine.BufferPtr, 0, 0)
	if at.Status != engine.StatusOK || uint32(at.Code) != res.GrantPtr {
		return res, fail("nervix_alloc(%d) answers %d, and nervix_buffer_ptr then %d", size, res.GrantPtr, uint32(at.Code))
	}
	capacity, err := g.capacity()
	if err != nil {
		return res, err
	}
	if capacity < int64(size) {
		return res, fail("nervix_alloc(%d) leaves a capacity of %d", size, capacity)
	}
	if int64(res.GrantPtr)+capacity > int64(res.Memory) {
		return res, fail("a buffer of %d bytes at %d ends behind the memory of %d bytes", capacity, res.GrantPtr, res.Memory)
	}
	return res, nil
}

func bufferAlloc(k *kit) error {
	g, err := k.buffered()
	if err != nil {
		return err
	}
	for _, size := range []uint32{1, 0, 2, 100, 65536, 65537, 10, 1 << 20, 3, 4 << 20, 1} {
		if _, err := g.granted(size); err != nil {
			return err
		}
	}
	_, err = g.batch(made(g.scenario.schemas.Input, 3, 1, false))
	return err
}

func bufferNegative(k *kit) error {
	g, err := k.started(k.main())
	if err != nil {
		return err
	}
	for _, size := range []int32{-1, math.MinInt32, -65536} {
		res := g.grant(uint32(size))
		switch {
		case res.Status == engine.StatusRange && int32(res.LiedPtr) < 0: // the engine takes the code for a place
		case res.Status == engine.StatusRange || res.Status == engine.StatusOK || res.Status == engine.StatusNoBuffer:
			return fail("nervix_alloc(%d) is answered with %d", size, int32(uint32(max(res.LiedPtr, int64(res.GrantPtr)))))
		default:
			return fail("nervix_alloc(%d) traps or meets a limit", size)
		}
	}
	_, err = g.batch(made(g.scenario.schemas.Input, 3, 1, false))
	return err
}

// ranges are those that do not lie inside a buffer of a capacity at a place in a memory.
func ranges(at, capacity, memory int64) [][2]int64 {
	all := [][2]int64{
		{memory, 16}, {memory - 8, 16}, {math.MaxUint32 - 15, 32}, {-1, -1}, {at, -1}, {at, math.MinInt32}, {at, math.MaxInt32}, {at + 1, math.MaxInt32},
		{at, memory - at + 1}, {at, capacity + 1}, {at + 1, capacity}, {at + capacity, 1}, {-16, 16}, {math.MinInt32, 64},
	}
	if at >= 64 {
		all = append(all, [2]int64{at - 64, 64}, [2]int64{at - 1, 16}, [2]int64{0, 16})
	}
	return all
}

// bufferRanges passes ranges that a host never passes.
func bufferRanges(k *kit) error {
	for _, entry := range []engine.Export{engine.Init, engine.ProcessBatch, engine.LoadState} {
		m, err := k.permuted()
		if err != nil {
			return err
		}
		g, err := k.bare(m, k.main())
		if err == nil && entry != engine.Init {
			err = g.init()
		}
		if err != nil {
			return err
		}
		res, err := g.granted(4096)
		if err != nil {
			return err
		}
		capacity, err := g.capacity()
		if err != nil {
			return err
		}
		for _, r := range ranges(int64(res.GrantPtr), capacity, int64(res.Memory)) {
			got := g.direct(entry, r[0], r[1])
			if got.Status != engine.StatusOK {
				return fail("%s(%d, %d) traps; the buffer has %d bytes at %d, the memory %d", entry, r[0], r[1], capacity, res.GrantPtr, res.Memory)
			}
			if got.Code >= 0 || got.Emitted {
				return fail("%s(%d, %d) is accepted; the buffer has %d bytes at %d, the memory %d", entry, r[0], r[1], capacity, res.GrantPtr, res.Memory)
			}
		}
		if entry == engine.Init {
			err = g.init()
		}
		if err == nil && entry != engine.LoadState { // a refused restore may end the instance
			_, err = g.batch(made(g.scenario.schemas.Input, 3, 1, false))
		}
		if err != nil {
			return fail("after refused ranges of %s: %w", entry, err)
		}
	}
	return nil
}

func bufferReused(k *kit) error {
	g, err := k.started(k.main())
	if err != nil {
		return err
	}
	var before uint64
	for i := range 200 {
		res := g.grant(1 << 20)
		if res.Status != engine.StatusOK {
			return fail("the %dth nervix_alloc(1048576) is not answered with a range inside the memory", i+1)
		}
		if i == 20 {
			before = res.Memory
		}
		if i > 20 && res.Memory > before {
			return fail("the memory grew from %d to %d bytes", before, res.Memory)
		}
	}
	return nil
}
