// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"errors"
	"math"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

func TestStartForms(t *testing.T) {
	// req: C-007, C-019, C-020, C-021, C-023 half: the decision alone
	sampled := vtime.UTCFromNS(1_700_000_000_000_000_000)
	readable := vtime.LogicalFromNS(-500)
	voters := []Authority{{2, 1}, {1, 5}}
	owner, _ := Select("d", voters)
	stopped := Lifecycle{Domain: "d", Created: 3, Generation: 6, Paced: true, Pace: Pace{Period: 9, Skew: 2}, Fence: Fence{Revision: 11}}
	for name, c := range map[string]struct {
		request  StartRequest
		readable *vtime.Logical
		origin   vtime.Logical
		rate     float64
	}{
		"plain, unreadable":      {StartRequest{}, nil, vtime.UnpacedNow(sampled), 1},
		"plain, readable":        {StartRequest{}, &readable, readable, 1},
		"AT NOW":                 {StartRequest{Form: StartAtNow}, &readable, vtime.UnpacedNow(sampled), 1},
		"AT NOW with a rate":     {StartRequest{Form: StartAtNow, Rate: 60, RateStated: true}, &readable, vtime.UnpacedNow(sampled), 60},
		"AT an instant":          {StartRequest{Form: StartAt, Origin: vtime.LogicalFromNS(-3)}, &readable, vtime.LogicalFromNS(-3), 1},
		"AT an instant, a rate":  {StartRequest{Form: StartAt, Origin: vtime.LogicalFromNS(-3), Rate: 0.1, RateStated: true}, nil, vtime.LogicalFromNS(-3), 0.1},
		"AT the earliest":        {StartRequest{Form: StartAt, Origin: vtime.LogicalFromNS(math.MinInt64)}, nil, vtime.LogicalFromNS(math.MinInt64), 1},
		"AT the epoch, not none": {StartRequest{Form: StartAt}, &readable, vtime.Logical{}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Start(stopped, c.request, StartInputs{UTC: sampled, Readable: c.readable, Candidates: voters})
			want := stopped
			want.Running, want.Generation = true, 7
			want.Mapping = Mapping{sampled, c.origin, c.rate}
			want.Fence = Fence{12, owner}
			if err != nil || got != want {
				t.Fatalf("%+v, %v", got, err)
			}
			if now, err := got.Mapping.At(sampled); err != nil || now != c.origin {
				t.Errorf("domain time begins at %v, %v", now, err)
			}
		})
	}
}

func TestStartOfAnUnpacedDomain(t *testing.T) {
	// req: C-010, C-023 half: the decision alone
	stopped := Lifecycle{Domain: "d", Created: 3, Generation: 6}
	want := stopped
	want.Running, want.Generation = true, 7
	for _, form := range []StartForm{StartResume, StartAtNow} {
		if got, err := Start(stopped, StartRequest{Form: form}, StartInputs{}); err != nil || got != want {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

func TestStartRefusals(t *testing.T) {
	// req: C-012
	// req: C-022 half: the decision alone
	paced := Lifecycle{Domain: "d", Created: 3, Paced: true, Pace: Pace{Period: 9}}
	unpaced := Lifecycle{Domain: "d", Created: 3}
	running := unpaced
	running.Running = true
	one := []Authority{{1, 1}}
	rate := func(r float64) StartRequest { return StartRequest{Form: StartAt, Rate: r, RateStated: true} }
	for name, c := range map[string]struct {
		l          Lifecycle
		request    StartRequest
		candidates []Authority
		want       error
	}{
		"no voter":           {paced, StartRequest{}, nil, ErrAuthority},
		"rate zero":          {paced, rate(0), one, ErrRate},
		"rate negative":      {paced, rate(-1), one, ErrRate},
		"rate infinite":      {paced, rate(math.Inf(1)), one, ErrRate},
		"rate NaN":           {paced, rate(math.NaN()), one, ErrRate},
		"unpaced AT instant": {unpaced, StartRequest{Form: StartAt}, one, ErrUnpaced},
		"unpaced rate":       {unpaced, StartRequest{Form: StartAtNow, Rate: 1, RateStated: true}, one, ErrUnpaced},
		"running":            {running, StartRequest{}, one, &fault.Error{Code: fault.DomainRunning}},
	} {
		got, err := Start(c.l, c.request, StartInputs{Candidates: c.candidates})
		if !errors.Is(err, c.want) || got != c.l {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	_, err := Start(unpaced, StartRequest{Form: StartAt}, StartInputs{})
	if got, want := err.Error(), "DOMAIN d: START AT a timestamp needs a paced domain; time of an unpaced one is UTC [clock.unpaced]"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestStopRevokes(t *testing.T) {
	// req: C-007, C-028, C-041 half: the decision alone
	l := paced(4, Fence{7, Authority{2, 3}})
	stopped := Stop(l)
	want := Lifecycle{Domain: "d", Created: 3, Generation: 4, Paced: true, Pace: l.Pace, Fence: Fence{Revision: 8}}
	if stopped != want || Stop(stopped) != want {
		t.Fatalf("%+v, then %+v", stopped, Stop(stopped))
	}
	again, err := Start(stopped, StartRequest{}, StartInputs{UTC: vtime.UTCFromNS(5), Candidates: []Authority{{2, 3}}})
	if err != nil || again.Generation != 5 || again.Fence != (Fence{9, Authority{2, 3}}) || again.Mapping.WallStartedAt.NS() != 5 {
		t.Fatalf("%+v, %v", again, err)
	}
	unpaced := Lifecycle{Domain: "d", Generation: 1, Running: true}
	if got := Stop(unpaced); got != (Lifecycle{Domain: "d", Generation: 1}) {
		t.Fatalf("%+v", got)
	}
}
