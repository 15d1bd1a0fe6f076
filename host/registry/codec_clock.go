// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"math"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/wire"
)

// mapping reads the three members of a mapping; a rate of zero means that there is none.
func (r *reader) mapping(wallNS, logicalNS int64, rate float64) clock.Mapping {
	if math.IsNaN(rate) || math.IsInf(rate, 0) || rate < 0 {
		r.fail("a time rate that is not positive and finite")
		return clock.Mapping{}
	}
	if rate == 0 {
		if wallNS != 0 || logicalNS != 0 {
			r.fail("a mapping without a rate")
		}
		return clock.Mapping{}
	}
	return clock.Mapping{WallStartedAt: vtime.UTCFromNS(wallNS), LogicalStart: vtime.LogicalFromNS(logicalNS), Rate: rate}
}

func authority(node, incarnation uint64) clock.Authority {
	return clock.Authority{Node: ident.Node(node), Incarnation: ident.Incarnation(incarnation)}
}

func (r *reader) opening(restart bool, wallNS, logicalNS int64, rate float64, node, incarnation uint64) Opening {
	return Opening{RestartPositions: restart, Mapping: r.mapping(wallNS, logicalNS, rate), Authority: authority(node, incarnation)}
}

func (r *reader) frozen(w *wire.ControlFrozen) Frozen {
	f := Frozen{Operation: w.Operation, Resource: ident.Name(w.Resource), Version: w.Version}
	o := r.opening(w.RestartPositions, w.WallStartedAtNs, w.LogicalStartNs, w.Rate, w.AuthorityNode, w.AuthorityIncarnation)
	if w.Start {
		f.Start = &o
	} else if o != (Opening{}) {
		r.fail("operation %d is no START and begins a generation", w.Operation)
	}
	return f
}

func packFrozen(f Frozen) *wire.ControlFrozen {
	w := &wire.ControlFrozen{Operation: f.Operation, Resource: string(f.Resource), Version: f.Version}
	if o := f.Start; o != nil {
		w.Start, w.RestartPositions, w.Rate = true, o.RestartPositions, o.Mapping.Rate
		w.WallStartedAtNs, w.LogicalStartNs = o.Mapping.WallStartedAt.NS(), o.Mapping.LogicalStart.NS()
		w.AuthorityNode, w.AuthorityIncarnation = uint64(o.Authority.Node), uint64(o.Authority.Incarnation)
	}
	return w
}

func (r *reader) reconcile(w *wire.ControlReconcileAuthority) *ReconcileAuthority {
	return &ReconcileAuthority{
		Domain: ident.Name(w.Domain), Generation: ident.Generation(w.Generation),
		Expected:  clock.Fence{Revision: w.ExpectedRevision, Authority: authority(w.ExpectedNode, w.ExpectedIncarnation)},
		Authority: authority(w.AuthorityNode, w.AuthorityIncarnation),
	}
}

func packReconcile(b *ReconcileAuthority) *wire.ControlReconcileAuthority {
	return &wire.ControlReconcileAuthority{
		Domain: string(b.Domain), Generation: uint64(b.Generation), ExpectedRevision: b.Expected.Revision,
		ExpectedNode: uint64(b.Expected.Authority.Node), ExpectedIncarnation: uint64(b.Expected.Authority.Incarnation),
		AuthorityNode: uint64(b.Authority.Node), AuthorityIncarnation: uint64(b.Authority.Incarnation),
	}
}
