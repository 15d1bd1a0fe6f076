// SPDX-License-Identifier: Apache-2.0

package ast

import "github.com/nervix-go/nervix/host/kernel/ident"

// Drop is `DROP kind name` for every kind that has a DROP, DOMAIN and USER included.
type Drop struct {
	Node
	Kind ident.Kind
	Name Ident
}

func (*Drop) statement() {}
