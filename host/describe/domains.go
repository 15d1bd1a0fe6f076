// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"strings"

	"github.com/nervix-go/nervix/host/kernel/ident"
)

// DomainStatus is a domain as lists show it.
type DomainStatus struct {
	Name ident.Domain
	// Pace is UNPACED or PACED; Period and Skew are durations in words, empty for an unpaced domain.
	Pace         string
	Period, Skew string
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

// JSON is an object with the member domains.
func (l DomainList) JSON() []byte {
	list := make(rows, 0, len(l))
	for _, d := range l {
		list = append(list, append(record{{"name", string(d.Name)}}, d.facts()...))
	}
	return Inspection{section{{"domains", list}}}.JSON()
}

func (d DomainStatus) facts() record {
	facts := record{{"pace", d.Pace}}
	if d.Period != "" {
		facts = append(facts, pair{"period", d.Period}, pair{"skew", d.Skew})
	}
	return append(facts, pair{"status", d.Status}, pair{"start_version", uint64(d.Generation)})
}
