// SPDX-License-Identifier: Apache-2.0

package ast

import "github.com/nervix-go/nervix/host/kernel/ident"

// CreateBranch is `CREATE BRANCH name SCHEMA schema TTL dur [MAX INSTANCES n EVICT LRU]` (nspl 12.1).
type CreateBranch struct {
	Create
	Schema Ident
	TTL    Duration
	// MaxInstances is nil when the number of concrete branches is not bounded; eviction is always by least recent use.
	MaxInstances *Uint
}

// DefKind is KindBranch.
func (*CreateBranch) DefKind() ident.Kind { return ident.KindBranch }

// References names the key schema.
func (c *CreateBranch) References() []Reference {
	return []Reference{refer(ident.KindSchema, c.Schema)}
}
