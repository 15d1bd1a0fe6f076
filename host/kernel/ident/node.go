// SPDX-License-Identifier: Apache-2.0

package ident

import "strconv"

// Node is the stable number of a cluster node, assigned when its data folder is created.
type Node uint64

// String is the logical address of the node, `n<id>` (architecture page, section 3).
func (n Node) String() string { return "n" + strconv.FormatUint(uint64(n), 10) }

// Incarnation counts the starts of one node; it is synced to disk before the node does anything else, so that no two processes of a
// node share one.
type Incarnation uint64

// Revision is the index of a committed state of the control plane. Zero is the empty state.
type Revision uint64

// Generation counts the starts of a domain (nspl 11.2).
type Generation uint64

// Fence orders authorities over a domain clock; a greater fence revokes every smaller one.
type Fence uint64
