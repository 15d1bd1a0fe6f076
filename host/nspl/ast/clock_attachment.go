// SPDX-License-Identifier: Apache-2.0

package ast

// AttachDomainClock is `ATTACH DOMAIN CLOCK`: the session follows the clock of the selected domain (nspl 21.5).
type AttachDomainClock struct {
	Node
}

// DetachDomainClock is `DETACH DOMAIN CLOCK`.
type DetachDomainClock struct {
	Node
}

func (*AttachDomainClock) statement() {}
func (*DetachDomainClock) statement() {}
