// SPDX-License-Identifier: Apache-2.0

// Package model turns the definitions of one domain into a checked, immutable graph of plans: what every node of the graph needs, with all
// names resolved and all expressions compiled. It is pure; equal definitions give equal graphs and equal diagnostics.
//
//	Build(domain, definitions) -> *Graph        what a host installs for a committed revision
//	Check(domain, base, changes) -> *Candidate  what the control plane asks before it proposes a change
//
// Both run the same checks over one candidate, the whole set of definitions (nspl 24). Build expects definitions that Check accepted
// earlier. Check applies CREATE, ALTER and DROP statements in written order, then validates the result as one graph, so statements of one
// run may refer to each other in any direction.
//
// A plan is never changed. Its Fingerprint covers everything it was made from, so an installer that finds the same reference with the same
// fingerprint in the next revision keeps what runs (data-plane page, section 2). The capacity of a relay is left out of every
// fingerprint, because it is applied to the live buffer.
//
// One file a concept: the plan types have the names of the kinds; what checks and builds them is in the check_*.go files.
package model
