// SPDX-License-Identifier: Apache-2.0

package ast

// Use is `USE name`.
type Use struct {
	Node
	Name Ident
}

// ListDomains is `LIST DOMAINS`.
type ListDomains struct {
	Node
}

// Start is `START [AT NOW]`; AtNow makes sources forget their positions (nspl 11.2).
type Start struct {
	Node
	AtNow bool
}

// Stop is `STOP`.
type Stop struct {
	Node
}

func (*Use) statement()         {}
func (*ListDomains) statement() {}
func (*Start) statement()       {}
func (*Stop) statement()        {}
