// SPDX-License-Identifier: Apache-2.0

// Package runtime is what all runtime nodes share: inputs that take batches from relays, branches that are worked on lanes, outlets that
// build, buffer and publish the batches of routes, and the message-error policies. Node kinds stand on top of it (host/node/<kind>);
// relays, clocks and connectors are ports that the engine connects.
//
// A branch is worked by one lane at a time and in order of arrival. For each input it has one batch in work and one waiting; an offer
// beyond that is refused, and the relay stays at the head of its line until the branch has a place (architecture page, section 2). While
// a publication of a branch waits for a place in a relay the branch is parked: its lane works other branches.
//
// Locks: Node.mu guards the branch table and the arrivals of all branches. It is held for a few instructions; nothing is called under it.
package runtime
