// SPDX-License-Identifier: Apache-2.0

package ast

import "github.com/nervix-go/nervix/host/kernel/ident"

// Pace says how a domain's time runs.
type Pace uint8

// Unpaced is the only pace of the language so far; a paced domain adds its period and skew.
const (
	Unpaced Pace = iota
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

// CreateDomain is `CREATE [UNPACED] DOMAIN name [PLACEMENT policy]`.
type CreateDomain struct {
	Create
	Pace      Pace
	Placement Placement
}

// DefKind is KindDomain.
func (*CreateDomain) DefKind() ident.Kind { return ident.KindDomain }

// References is empty: a domain depends on nothing.
func (*CreateDomain) References() []Reference { return nil }
