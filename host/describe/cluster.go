// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"strings"

	"github.com/nervix-go/nervix/host/kernel/ident"
)

// ClusterStatus is what SHOW CLUSTER STATUS tells. The caller sorts every list.
type ClusterStatus struct {
	// Leader is the node name of the Raft leader, empty when none is known.
	Leader string
	Raft   RaftStatus
	Voters []string
	// Cordoned and Unavailable are node names.
	Cordoned    []string
	Unavailable []string
	Links       []LinkStatus
	Domains     []DomainStatus
	Scheduled   []Scheduled
	Recoveries  []Recovery
}

// RaftStatus is the answering node's place in the Raft group.
type RaftStatus struct {
	// Role is leader, follower or candidate.
	Role    string
	Term    uint64
	Index   uint64
	Applied uint64
}

// LinkStatus is the link of the answering node to another.
type LinkStatus struct{ Node, State string }

// Scheduled is one runtime node of the committed schedule.
type Scheduled struct {
	Ref ident.Ref
	At  Placement
}

// Recovery is one outcome of state recovery after the loss of an owner. Resets are `component:cause` words.
type Recovery struct {
	Ref     ident.Ref
	Outcome string
	Resets  []string
}

// Cluster renders SHOW CLUSTER STATUS.
func Cluster(s ClusterStatus) Inspection {
	links := make(rows, 0, len(s.Links))
	for _, l := range s.Links {
		links = append(links, record{{"node", l.Node}, {"state", l.State}})
	}
	domains := make(rows, 0, len(s.Domains))
	for _, d := range s.Domains {
		var period, skew string
		if d.Cadence != nil {
			period, skew = inUnits(d.Cadence.Period), inUnits(d.Cadence.Skew)
		}
		domains = append(domains, record{
			{"name", string(d.Name)}, {"status", d.Status}, {"pace", d.Pace}, {"period", optional(period)}, {"skew", optional(skew)},
			{"generation", uint64(d.Generation)},
		})
	}
	scheduled := make(rows, 0, len(s.Scheduled))
	for _, n := range s.Scheduled {
		scheduled = append(scheduled, append(subject(n.Ref), pair{"owner", optional(n.At.Owner)}, pair{"replicas", replicas(n.At)}))
	}
	recoveries := make(rows, 0, len(s.Recoveries))
	for _, r := range s.Recoveries {
		recoveries = append(recoveries, append(subject(r.Ref), pair{"outcome", r.Outcome}, pair{"resets", words(r.Resets)}))
	}
	return Inspection{section{
		{"leader", optional(s.Leader)},
		{"raft state", record{{"role", optional(s.Raft.Role)}, {"term", s.Raft.Term}, {"index", s.Raft.Index}, {"applied", s.Raft.Applied}}},
		{"voters", words(s.Voters)},
		{"cordoned nodes", words(s.Cordoned)},
		{"unavailable members", words(s.Unavailable)},
		{"links", links},
		{"domains", domains},
		{"scheduled nodes", scheduled},
		{"state_recovery", recoveries},
	}}
}

// subject names a runtime node on one line; the kind is one word, `wasm_processor`, and a hash map is a `lookup` (nspl 2.1).
func subject(ref ident.Ref) record {
	kind := strings.ReplaceAll(kindWord(ref.Kind), " ", "_")
	if ref.Kind == ident.KindHashMap {
		kind = "lookup"
	}
	return record{{"domain", string(ref.Domain)}, {"kind", kind}, {"name", string(ref.Name)}}
}
