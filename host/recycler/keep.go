// SPDX-License-Identifier: Apache-2.0

//go:build !invariants

package recycler

// spoil overwrites released blocks.
const spoil = false
