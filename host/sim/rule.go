// SPDX-License-Identifier: Apache-2.0

package sim

// Rule is an obligation that a run breaks on purpose, to show that a check sees it.
type Rule uint8

// The rules. None breaks nothing.
const (
	None Rule = iota
	// RawReads hands out projections without their watermark.
	RawReads
	// TimeFromTicks raises readings to the boundaries of accepted reports.
	TimeFromTicks
	// AnyGeneration accepts reports of every generation.
	AnyGeneration
	// AnyRevision accepts reports of every authority revision.
	AnyRevision
	// AnyIncarnation accepts reports of every process of the authority's node.
	AnyIncarnation
	// AnySender believes the name in a report instead of the connection's.
	AnySender
	// OlderTicks keeps the last accepted report instead of the newest.
	OlderTicks
	// KeptTicks keeps the progress of a generation beyond it.
	KeptTicks
	// FencesWithGraph installs a change of authority with the graph only.
	FencesWithGraph
	// LateGraphWins lets a graph installation that ends late put back what newer revisions replaced.
	LateGraphWins
	// BlindCommit commits reassignments without comparing.
	BlindCommit
	// LeaderMoves makes a new leader choose every authority again.
	LeaderMoves
	// Reanchor anchors the mapping again when the authority changes.
	Reanchor
	// SeveralReports sends every tick at once, also beside one that is under way.
	SeveralReports
	// UnaskedReports sends to peers that have not advertised the installation.
	UnaskedReports
	// EveryTick emits missed ticks one by one.
	EveryTick
	rules
)

// String names the rule.
func (r Rule) String() string {
	return [...]string{"none", "raw reads", "time from ticks", "any generation", "any revision", "any incarnation", "any sender", "older ticks", "kept ticks",
		"fences with graph", "late graph wins", "blind commit", "leader moves", "reanchor", "several reports", "unasked reports", "every tick"}[r]
}
