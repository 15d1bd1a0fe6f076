// SPDX-License-Identifier: Apache-2.0

package describe

import "github.com/nervix-go/nervix/host/model"

// JunctionObservation is the traffic of a junction.
type JunctionObservation struct {
	Received []EdgeObservation
	Sent     []EdgeObservation
}

// Junction describes a junction.
func Junction(plan *model.Junction, at Placement, seen JunctionObservation) Inspection {
	def := plan.Definition
	lines := append(head(plan.Ref, at),
		pair{"from", from(def.Inputs)},
		pair{"filter", expression(def.Filter)},
		pair{"branch", branchWords(plan.Branch)},
		pair{"attachment", def.Attachment.String()},
	)
	for _, r := range plan.Routes {
		lines = append(lines, output(r, branchWords(plan.Branch), def.Routes[r.Index]))
	}
	return Inspection{append(lines, pair{"metrics", section{
		{"incoming_edges", edges("received", seen.Received)}, {"outgoing_edges", edges("sent", seen.Sent)},
	}})}
}
