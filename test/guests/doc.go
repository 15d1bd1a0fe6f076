// SPDX-License-Identifier: Apache-2.0

// Package guests runs hostile guests in real nodes: modules that trap, spin, grow, lie about ranges and emit whatever a row tells them to. After
// each of them the node is alive, other branches flow, every input that waits is settled, and the log and DESCRIBE name stage and cause.
//
// Most of it is one module, the puppet: each row carries a script of what the guest does with it, in which export, so that a case is a few rows of
// a branch of its own and hundreds of cases share one node. Modules that a script cannot make (other exports, start functions, no module at all) are
// written one by one.
package guests
