// SPDX-License-Identifier: Apache-2.0

package ast

// Begin is `BEGIN`.
type Begin struct {
	Node
}

// Commit is `COMMIT`.
type Commit struct {
	Node
}

// Revert is `REVERT`.
type Revert struct {
	Node
}

func (*Begin) statement()  {}
func (*Commit) statement() {}
func (*Revert) statement() {}
