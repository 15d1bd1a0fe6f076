// SPDX-License-Identifier: Apache-2.0

package ast

import "github.com/nervix-go/nervix/host/kernel/ident"

// Pace says how a domain's time runs.
type Pace uint8

// The paces. An unpaced domain follows actual UTC; a paced one has a clock of its own, with ticks and admission windows.
const (
	Unpaced Pace = iota
	Paced
)

// Placement is a placement policy (nspl 11.1).
type Placement uint8

// The placement policies; NEUTRAL is the default and always printed.
const (
	PlacementNeutral Placement = iota
	PlacementRequireColocation
	PlacementPreferColocation
	PlacementSuggestSeparation
)

// String is the policy as NSPL writes it.
func (p Placement) String() string {
	return [...]string{"NEUTRAL", "REQUIRE COLOCATION", "PREFER COLOCATION", "SUGGEST SEPARATION"}[p&3]
}

// CreateDomain is `CREATE [UNPACED] DOMAIN name [PLACEMENT policy]` or `CREATE PACED DOMAIN name WITH PERIOD dur SKEW dur [PLACEMENT policy]`.
type CreateDomain struct {
	Create
	Pace Pace
	// Period and Skew are set in a paced domain only; Skew may be zero (Q48).
	Period, Skew Duration
	Placement    Placement
}

// DefKind is KindDomain.
func (*CreateDomain) DefKind() ident.Kind { return ident.KindDomain }

// References is empty: a domain depends on nothing.
func (*CreateDomain) References() []Reference { return nil }
