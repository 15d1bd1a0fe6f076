// SPDX-License-Identifier: Apache-2.0

package ast

import "github.com/nervix-go/nervix/host/kernel/ident"

// CreateResource is `CREATE RESOURCE name` (nspl 13.1).
type CreateResource struct {
	Create
}

// DefKind is KindResource.
func (*CreateResource) DefKind() ident.Kind { return ident.KindResource }

// References is empty: a resource depends on nothing.
func (*CreateResource) References() []Reference { return nil }
