// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// DomainStatus is a domain as lists show it.
type DomainStatus struct {
	Name ident.Domain
	// Pace is UNPACED or PACED. Cadence has period and skew of a paced domain; nil in an unpaced one.
	Pace    string
	Cadence *clock.Pace
	// Status is STOPPED, RUNNING or PAUSED.
	Status     string
	Generation ident.Generation
}

// DomainList renders LIST DOMAINS: `name pace=UNPACED status=STOPPED start_version=0`, one domain a line (nspl 11.1).
type DomainList []DomainStatus

// Text is the rendering for people; no line at all when there is no domain.
func (l DomainList) Text() string {
	var b strings.Builder
	for _, d := range l {
		b.WriteString(string(d.Name) + " " + inline(d.facts()) + "\n")
	}
	return b.String()
}

// JSON is an array with one object a domain; period_ns and skew_ns are null in an unpaced domain.
func (l DomainList) JSON() []byte {
	type entry struct {
		Name         string  `json:"name"`
		Pace         string  `json:"pace"`
		PeriodNS     *uint64 `json:"period_ns"`
		SkewNS       *uint64 `json:"skew_ns"`
		Status       string  `json:"status"`
		StartVersion uint64  `json:"start_version"`
	}
	list := make([]entry, 0, len(l))
	for _, d := range l {
		e := entry{Name: string(d.Name), Pace: d.Pace, Status: d.Status, StartVersion: uint64(d.Generation)}
		if d.Cadence != nil {
			e.PeriodNS, e.SkewNS = &d.Cadence.Period, &d.Cadence.Skew
		}
		list = append(list, e)
	}
	b, _ := json.Marshal(list) // strings and numbers always encode
	return b
}

func (d DomainStatus) facts() record {
	facts := record{{"pace", d.Pace}}
	if d.Cadence != nil {
		facts = append(facts, pair{"period", inUnits(d.Cadence.Period)}, pair{"skew", inUnits(d.Cadence.Skew)})
	}
	return append(facts, pair{"status", d.Status}, pair{"start_version", uint64(d.Generation)})
}

// inUnits writes nanoseconds in the greatest unit that divides them, as NSPL would: 90 s is `90s`.
func inUnits(ns uint64) string {
	units := []struct {
		word string
		ns   uint64
	}{{"d", 86_400_000_000_000}, {"h", 3_600_000_000_000}, {"m", 60_000_000_000}, {"s", 1_000_000_000}, {"ms", 1_000_000}, {"us", 1_000}}
	for _, u := range units {
		if ns > 0 && ns%u.ns == 0 {
			return strconv.FormatUint(ns/u.ns, 10) + u.word
		}
	}
	return strconv.FormatUint(ns, 10) + "ns"
}
