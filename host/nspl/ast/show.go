// SPDX-License-Identifier: Apache-2.0

package ast

import "github.com/nervix-go/nervix/host/kernel/ident"

// ShowCreate is `SHOW CREATE kind name`.
type ShowCreate struct {
	Node
	Kind ident.Kind
	Name Ident
}

// ShowIngestors is `SHOW INGESTORS [FORMAT ..]`.
type ShowIngestors struct {
	Node
	Format Format
}

// ShowClusterStatus is `SHOW CLUSTER STATUS [FORMAT ..]`.
type ShowClusterStatus struct {
	Node
	Format Format
}

func (*ShowCreate) statement()        {}
func (*ShowIngestors) statement()     {}
func (*ShowClusterStatus) statement() {}
