// SPDX-License-Identifier: Apache-2.0

package model

import (
	"time"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// Relay is the plan of a relay: one buffer with one owner.
type Relay struct {
	Ref         ident.Ref
	Fingerprint Fingerprint
	Schema      *types.Schema
	// Branch is nil for an unbranched relay.
	Branch *Branch
	// Capacity counts batches, at least 1. The fingerprint does not cover it.
	Capacity uint64
}

// Branch is a branch declaration: the shape of its keys and their lifetime. Its name is its identity.
type Branch struct {
	Ref         ident.Ref
	Fingerprint Fingerprint
	// Schema has the key fields.
	Schema *types.Schema
	TTL    time.Duration
	// MaxInstances caps the live concrete branches, evicting the least recently used; 0 means no cap.
	MaxInstances uint64
}

// same says whether two relays or nodes have exactly the same branch; nil is UNBRANCHED (nspl 10.3).
func (b *Branch) same(o *Branch) bool {
	if b == nil || o == nil {
		return b == o
	}
	return b.Ref == o.Ref
}

// declaration is the branch as a relay or node declares it.
func (b *Branch) declaration() string {
	if b == nil {
		return "UNBRANCHED"
	}
	return "BRANCHED BY " + string(b.Ref.Name)
}
