// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"cmp"
	"maps"
	"slices"

	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Pace says whether a domain has a clock of its own. The numbers are stored.
type Pace uint8

// The paces.
const (
	Unpaced Pace = 1
	Paced   Pace = 2
)

func (p Pace) String() string {
	if p == Paced {
		return "PACED"
	}
	return "UNPACED"
}

// Placement is the default placement policy of a domain (nspl 11.1). The numbers are stored.
type Placement uint8

// The placement policies.
const (
	PlacementNeutral           Placement = 1
	PlacementRequireColocation Placement = 2
	PlacementPreferColocation  Placement = 3
	PlacementSuggestSeparation Placement = 4
)

func (p Placement) String() string {
	switch p {
	case PlacementRequireColocation:
		return "REQUIRE COLOCATION"
	case PlacementPreferColocation:
		return "PREFER COLOCATION"
	case PlacementSuggestSeparation:
		return "SUGGEST SEPARATION"
	default:
		return "NEUTRAL"
	}
}

// Status is the committed lifecycle of a domain. The numbers are stored.
type Status uint8

// The lifecycles. The pause inside an alteration is not one (nspl 11.2).
const (
	Stopped Status = 1
	Running Status = 2
)

func (s Status) String() string {
	if s == Running {
		return "RUNNING"
	}
	return "STOPPED"
}

// Key names one definition inside a domain: a name is unique within its kind (nspl 2.1).
type Key struct {
	Kind ident.Kind
	Name ident.Name
}

// In is the key as a reference for diagnostics.
func (k Key) In(d ident.Domain) ident.Ref { return ident.Ref{Domain: d, Kind: k.Kind, Name: k.Name} }

// CompareKeys orders keys by kind, then name.
func CompareKeys(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
}

// Definition is one stored model. It is immutable.
type Definition struct {
	Key          Key
	Text         string // canonical NSPL; SHOW CREATE prints exactly this
	Grammar      uint32 // version of the grammar that printed it
	Dependencies []Key  // what it references in its domain, ascending
	Created      ident.Revision
	Changed      ident.Revision
}

// Domain is the committed state of one domain. It is immutable; readers may not change its maps.
type Domain struct {
	Name      ident.Domain
	Text      string // canonical CREATE DOMAIN
	Grammar   uint32
	Pace      Pace
	Placement Placement
	// Pacing is set in a paced domain.
	Pacing clock.Pace
	Status Status
	// Mapping is set while a paced generation runs (C-012, C-028).
	Mapping clock.Mapping
	// Fence is who may produce the ticks of a paced domain. Its revisions begin at the domain's own, so that no report for an earlier domain
	// of the same name matches a later one.
	Fence clock.Fence
	// Generation counts the starts: LIST DOMAINS prints it as start_version.
	Generation ident.Generation
	// PositionEpoch names one life of the domain-owned source positions. START AT NOW sets it to its own revision, so that positions kept
	// under an earlier epoch are never read again, also when a domain is dropped and created under the same name.
	PositionEpoch uint64
	// Model is the revision that last changed the definitions; a mutation names the one it was planned against.
	Model   ident.Revision
	Created ident.Revision
	// Committing is the transaction that holds the mutation fence; zero when none does.
	Committing  ident.Reference
	Definitions map[Key]*Definition
	Schedule    map[Key]ident.Node
	// Resources are the versions beside the definitions of kind RESOURCE: one entry for each, created and dropped with it.
	Resources map[ident.Name]*Resource
}

// Clock is what the committed state says about the clock of the domain.
func (d *Domain) Clock() clock.Lifecycle {
	return clock.Lifecycle{
		Domain: d.Name, Created: d.Created, Generation: d.Generation, Running: d.Status == Running, Paced: d.Pace == Paced, Pace: d.Pacing,
		Mapping: d.Mapping, Fence: d.Fence,
	}
}

// Keys lists the definitions, ascending by kind and name.
func (d *Domain) Keys() []Key {
	return slices.SortedFunc(maps.Keys(d.Definitions), CompareKeys)
}

// Referrers lists the definitions that depend on k, ascending.
func (d *Domain) Referrers(k Key) []Key {
	var found []Key
	for key, def := range d.Definitions {
		if slices.Contains(def.Dependencies, k) {
			found = append(found, key)
		}
	}
	slices.SortFunc(found, CompareKeys)
	return found
}
