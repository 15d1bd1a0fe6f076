// SPDX-License-Identifier: Apache-2.0

package ast

// CreateUser is `CREATE USER name WITH PASSWORD string` (nspl 21.1). It is no Definition: its text is never stored or shown.
type CreateUser struct {
	Create
	Password Secret
}

// AlterUser is `ALTER USER name WITH PASSWORD string`.
type AlterUser struct {
	Node
	Name     Ident
	Password Secret
}

func (*AlterUser) statement() {}
