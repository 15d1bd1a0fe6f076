// SPDX-License-Identifier: Apache-2.0

package reference

import (
	"errors"

	"github.com/bytecodealliance/wasmtime-go/v44"

	"github.com/nervix-go/nervix/wasm/engine"
)

type store struct {
	c        *code
	store    *wasmtime.Store
	linker   *wasmtime.Linker
	instance *wasmtime.Instance
	memory   *wasmtime.Memory
	funcs    [engine.NoExport]*wasmtime.Func
	ceiling  uint64
	counted  uint64

	now      int64
	handle   int64
	allow    uint8
	reset    bool
	timeouts []engine.Timeout
}

func (s *store) resolve() {
	for x := range engine.NoExport {
		if s.c.has[x] {
			s.funcs[x] = s.instance.GetFunc(s.store, x.String())
		}
	}
	if e := s.instance.GetExport(s.store, "memory"); e != nil {
		s.memory = e.Memory()
	}
}

func (s *store) begin(q *engine.Request) {
	_ = s.store.SetFuel(q.Fuel) // fails only without metering, which is on
	s.store.SetEpochDeadline(q.Ticks)
	s.now, s.handle, s.allow = q.Now, q.NextHandle, q.Allow
	s.reset, s.timeouts = false, s.timeouts[:0]
}

func (s *store) report(r *engine.Result) {
	r.FuelLeft, _ = s.store.GetFuel()
	r.Reset, r.Timeouts, r.NextHandle = s.reset, s.timeouts, s.handle
	if s.memory != nil {
		r.Memory = uint64(s.memory.DataSize(s.store))
	}
	s.c.b.live.Add(int64(r.Memory) - int64(s.counted))
	s.counted = r.Memory
}

func (s *store) Close() {
	s.c.b.live.Add(-int64(s.counted))
	s.counted = 0
	s.store.Close()
	s.linker.Close()
}

// Run does what nv_run does, one public call at a time.
func (s *store) Run(q *engine.Request, r *engine.Result) {
	*r = engine.Result{}
	if q.Begin {
		s.begin(q)
	}
	if !q.Ask || s.grant(q, r) {
		copy(r.Grant, q.Payload)
		if q.Entry != engine.NoExport {
			s.enter(q, r)
		}
	}
	if r.Status == engine.StatusTrap && len(r.Reason) == 0 {
		s.lastWords(r)
	}
	s.report(r)
}

// lastWords asks a guest that trapped for the reason it may have left.
func (s *store) lastWords(r *engine.Result) {
	var asked engine.Result
	if !s.c.has[engine.GlobalErrorPtr] {
		return
	}
	n, ok := s.call(&asked, engine.GlobalErrorLen)
	if !ok || n <= 0 {
		return
	}
	if ptr, ok := s.call(&asked, engine.GlobalErrorPtr); ok {
		text := s.bounds(&asked, uint32(ptr), int64(n))
		r.ReasonCut = n > maxReason && text != nil
		r.Reason = append([]byte(nil), text[:min(len(text), maxReason)]...)
	}
}

func (s *store) failed(r *engine.Result, at engine.Export, err error) {
	r.At, r.Trap, r.Status, r.Message = at, -1, engine.StatusFault, err.Error()
	var trap *wasmtime.Trap
	if !errors.As(err, &trap) {
		return
	}
	r.Status = engine.StatusTrap
	if code := trap.Code(); code != nil {
		r.Trap = int(*code)
		switch *code {
		case wasmtime.OutOfFuel:
			r.Status = engine.StatusFuel
		case wasmtime.Interrupt:
			r.Status = engine.StatusEpoch
		}
	}
}

func (s *store) call(r *engine.Result, x engine.Export, args ...any) (int32, bool) {
	v, err := s.funcs[x].Call(s.store, args...)
	if err != nil {
		s.failed(r, x, err)
		return 0, false
	}
	r.At = x
	n, _ := v.(int32)
	return n, true
}

func (s *store) bounds(r *engine.Result, ptr uint32, n int64) []byte {
	data := s.memory.UnsafeData(s.store)
	if n < 0 || uint64(ptr)+uint64(n) > uint64(len(data)) {
		r.Status, r.LiedPtr, r.LiedLen = engine.StatusRange, int64(ptr), n
		return nil
	}
	return data[ptr : uint64(ptr)+uint64(n)]
}

func (s *store) grant(q *engine.Request, r *engine.Result) bool {
	ptr, ok := s.call(r, engine.Alloc, int32(q.Size))
	if !ok {
		return false
	}
	r.GrantPtr = uint32(ptr)
	if ptr == 0 && q.Size > 0 {
		r.Status = engine.StatusNoBuffer
		return false
	}
	r.Grant = s.bounds(r, uint32(ptr), int64(q.Size))
	return r.Status == engine.StatusOK
}

func (s *store) readReason(r *engine.Result) bool {
	if !s.c.has[engine.GlobalErrorPtr] {
		return true
	}
	at := r.At
	n, ok := s.call(r, engine.GlobalErrorLen)
	if !ok {
		return false
	}
	if n > 0 {
		ptr, ok := s.call(r, engine.GlobalErrorPtr)
		if !ok {
			return false
		}
		text := s.bounds(r, uint32(ptr), int64(n))
		if r.Status != engine.StatusOK {
			return false
		}
		r.ReasonCut = n > maxReason
		r.Reason = append([]byte(nil), text[:min(int(n), maxReason)]...)
		if _, ok = s.call(r, engine.ClearGlobalError); !ok {
			return false
		}
	}
	r.At = at
	return true
}

func (s *store) output(q *engine.Request, r *engine.Result, n int32) {
	at := r.At
	if uint32(n) > q.MaxBuffer {
		r.Status, r.LiedLen = engine.StatusTooLarge, int64(n)
		return
	}
	ptr, ok := s.call(r, engine.BufferPtr)
	if !ok {
		return
	}
	if r.Output = s.bounds(r, uint32(ptr), int64(n)); r.Status == engine.StatusOK {
		r.At, r.OutputPtr = at, uint32(ptr)
	}
}

func (s *store) readEmit(q *engine.Request, r *engine.Result) {
	n, ok := s.call(r, engine.ReadEmit)
	if !ok {
		return
	}
	r.Code, r.Emitted = int64(n), true
	if s.readReason(r) && len(r.Reason) == 0 && n > 0 {
		s.output(q, r, n)
	}
}

func (s *store) enter(q *engine.Request, r *engine.Result) {
	var args []any
	switch q.Entry {
	case engine.ReadEmit:
		s.readEmit(q, r)
		return
	case engine.OnTimeout:
		args = []any{q.A}
	case engine.Init, engine.ProcessBatch, engine.LoadState:
		args = []any{int32(uint32(q.A)), int32(uint32(q.B))}
		if q.Payload != nil {
			args = []any{int32(r.GrantPtr), int32(q.Size)}
		}
	}
	n, ok := s.call(r, q.Entry, args...)
	if !ok {
		return
	}
	r.Code = int64(n)
	state := q.Entry == engine.DumpState || q.Entry == engine.LoadState
	if (!state || n < 0) && !s.readReason(r) {
		return
	}
	switch {
	case q.Entry == engine.DumpState && n > 0:
		s.output(q, r, n)
	case n == 0 && len(r.Reason) == 0 && (q.Entry == engine.ProcessBatch || q.Entry == engine.OnTimeout || q.Entry == engine.Flush):
		s.readEmit(q, r)
	}
}
