// SPDX-License-Identifier: Apache-2.0

package vtime

import "github.com/nervix-go/nervix/host/kernel/ident"

// Snapshot is the execution snapshot of one unit of work: every expression of it sees the same instant (nspl 11.5). Work gets a
// reading, never a clock.
type Snapshot struct {
	Domain     ident.Domain
	Generation ident.Generation
	Now        Logical
}
