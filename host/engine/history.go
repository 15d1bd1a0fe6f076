// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync"
	"time"

	"github.com/nervix-go/nervix/host/describe"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/node/runtime"
	"github.com/nervix-go/nervix/host/observe"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/relay/owner"
	"github.com/nervix-go/nervix/host/timekeeper"
)

// sampleEvery is how often rates and buffer depths are sampled, in rounds of upkeep.
const sampleEvery = 10

// edgeKey names one edge of a node: the i-th input or route.
type edgeKey struct {
	ref ident.Ref
	out bool
	i   int
}

// rates are those of one edge, a second of physical and a second of domain time.
type rates struct{ wall, domain observe.Rate }

// history is what an execution remembers of its recent past, for DESCRIBE. Sampling reads counters the data plane keeps anyway.
type history struct {
	mu     sync.Mutex
	rounds int
	at     vtime.Mono // of the last sample
	now    vtime.Logical
	rates  map[edgeKey]*rates
	depths map[ident.Name]*observe.Window[owner.Depths]
}

func newHistory() *history {
	return &history{rates: make(map[edgeKey]*rates), depths: make(map[ident.Name]*observe.Window[owner.Depths])}
}

// sample takes one round of readings, every sampleEvery calls.
func (x *execution) sample(now vtime.Mono) {
	h := x.history
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rounds++
	if h.rounds%sampleEvery != 1 {
		return
	}
	wall, domain := h.passed(now, x.clock)
	for name, r := range x.relays {
		w := h.depths[name]
		if w == nil {
			w = &observe.Window[owner.Depths]{}
			h.depths[name] = w
		}
		w.Sample(r.Observe().Depths, now)
	}
	for n, i := range x.ingestors {
		h.take(x.graph.Ingestors[n].Ref, true, i.Observe().Sent, wall, domain)
	}
	for n, j := range x.junctions {
		o := j.Observe()
		h.take(x.graph.Junctions[n].Ref, false, o.Received, wall, domain)
		h.take(x.graph.Junctions[n].Ref, true, o.Sent, wall, domain)
	}
	for n, p := range x.guests {
		o := p.Observe()
		h.take(x.graph.WASMs[n].Ref, false, o.Received, wall, domain)
		h.take(x.graph.WASMs[n].Ref, true, o.Sent, wall, domain)
	}
	for n, m := range x.emitters {
		h.take(x.graph.Emitters[n].Ref, false, m.Observe().Inputs, wall, domain)
	}
}

// passed is the physical and the domain time since the sample before. A clock that cannot be read stands still.
func (h *history) passed(at vtime.Mono, clock *timekeeper.Handle) (wall, domain time.Duration) {
	now, ok := clock.Now()
	if h.rounds > 1 {
		wall = at.Sub(h.at)
		if d, err := now.Sub(h.now); ok && err == nil {
			domain = d
		}
	}
	h.at = at
	if ok {
		h.now = now
	}
	return wall, domain
}

func (h *history) take(ref ident.Ref, out bool, edges []runtime.Passed, wall, domain time.Duration) {
	for i, e := range edges {
		key := edgeKey{ref, out, i}
		r := h.rates[key]
		if r == nil {
			r = &rates{}
			h.rates[key] = r
		}
		r.wall.Sample(e.Rows, wall)
		r.domain.Sample(e.Rows, domain)
	}
}

// edgeRates gives the rates of an edge.
func (h *history) edgeRates(key edgeKey) describe.EdgeRates {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.rates[key]
	if r == nil {
		return describe.EdgeRates{}
	}
	var out describe.EdgeRates
	if now, m1, m15, ok := r.wall.Rates(); ok {
		out.Wall, out.Wall1m, out.Wall15m = &now, &m1, &m15
	}
	if now, m1, m15, ok := r.domain.Rates(); ok {
		out.Domain, out.Domain1m, out.Domain15m = &now, &m1, &m15
	}
	return out
}

// percentiles describes how full a relay's buffer was when batches were admitted, over one and fifteen minutes.
func (h *history) percentiles(relay ident.Name, current owner.Depths) describe.Percentiles {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.depths[relay]
	if w == nil {
		return describe.Percentiles{}
	}
	var p describe.Percentiles
	now := osclock.Mono()
	fill := func(span time.Duration, p50, p90, p99 **float64) {
		before, ok := w.Since(span, now)
		if !ok {
			return
		}
		part := current.Since(before)
		if part.Count == 0 {
			return
		}
		for q, to := range map[float64]**float64{0.5: p50, 0.9: p90, 0.99: p99} {
			v := float64(part.Quantile(q))
			*to = &v
		}
	}
	fill(time.Minute, &p.P50Of1m, &p.P90Of1m, &p.P99Of1m)
	fill(15*time.Minute, &p.P50Of15m, &p.P90Of15m, &p.P99Of15m)
	return p
}
