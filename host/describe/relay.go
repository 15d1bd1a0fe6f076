// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"github.com/nervix-go/nervix/host/model"
)

// RelayObservation is what the owner of a relay knows about its buffer. Without WHERE it covers the whole relay, with WHERE one concrete
// branch.
type RelayObservation struct {
	Node string
	// Buffered counts the batches in the buffer now.
	Buffered uint64
	// Branches counts the live concrete branches.
	Branches uint64
	Wall     Percentiles
	Domain   Percentiles
}

// BranchObservation is what the owner knows about one concrete branch.
type BranchObservation struct {
	// Key is the fingerprint of the branch key.
	Key    string
	Exists bool
	// Buffer is nil when the branch does not exist.
	Buffer *RelayObservation
}

// Relay describes a relay. seen is nil when the owner could not be asked.
func Relay(plan *model.Relay, at Placement, seen *RelayObservation) Inspection {
	lines := append(head(plan.Ref, at),
		pair{"schema", string(plan.Schema.Name())},
		pair{"branch", branchWords(plan.Branch)},
		pair{"key fields", keyFields(plan.Branch)},
		pair{"capacity", plan.Capacity},
		pair{"materialized", false},
	)
	return Inspection{append(lines, pair{"metrics", section{{"relay_buffers", buffers(plan, seen)}}})}
}

// RelayBranch describes one concrete branch of a relay, as DESCRIBE RELAY .. WHERE asks for it.
func RelayBranch(plan *model.Relay, at Placement, seen BranchObservation) Inspection {
	lines := append(head(plan.Ref, at),
		pair{"branch", branchWords(plan.Branch)},
		pair{"key fingerprint", optional(seen.Key)},
		pair{"exists", bare{seen.Exists, "exists", "does not exist"}},
	)
	return Inspection{append(lines, pair{"metrics", section{{"relay_buffers", buffers(plan, seen.Buffer)}}})}
}

// buffers is the utilisation of the owner's buffer, nil when it is not known; traffic is told by the nodes at its edges.
func buffers(plan *model.Relay, seen *RelayObservation) any {
	if seen == nil {
		return nil
	}
	line := record{{"physical_node", seen.Node}, {"buffered", seen.Buffered}, {"capacity", plan.Capacity}, {"branches", seen.Branches}}
	line = append(line, seen.Wall.pairs("")...)
	return rows{append(line, seen.Domain.pairs("domain_")...)}
}

func branchWords(b *model.Branch) string {
	if b == nil {
		return "UNBRANCHED"
	}
	return string(b.Ref.Name)
}

// keyFields lists the fields of the key with their types, nil when there is no key.
func keyFields(b *model.Branch) any {
	if b == nil {
		return nil
	}
	var list words
	for _, f := range b.Schema.Fields() {
		text := string(f.Name) + " " + f.Type.String()
		if f.Optional {
			text += " OPTIONAL"
		}
		list = append(list, text)
	}
	return list
}
