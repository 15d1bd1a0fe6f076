// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"cmp"
	"slices"

	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Select chooses the authority of a domain out of the live voters (C-036, C-039). Several entries of one node count as its newest incarnation
// (C-038). Equal domains and candidates give equal choices whatever their order; false if there is no candidate. candidates is not changed.
func Select(domain ident.Domain, candidates []Authority) (Authority, bool) {
	c := newest(candidates)
	if len(c) == 0 {
		return Authority{}, false
	}
	return c[hash(domain)%uint64(len(c))], true
}

// Reconcile says what the leader proposes for an installed lifecycle: the next fence, and true, if a commit is needed (C-035, C-043). An authority
// that is still a candidate stays, whoever else came or went; a lost one is replaced by Select, or by nobody if there is no candidate. Stopped
// and unpaced domains need nothing. The proposal is to be committed through Reassign.
func Reconcile(l Lifecycle, candidates []Authority) (Fence, bool) {
	if !l.Running || !l.Paced {
		return l.Fence, false
	}
	if !l.Fence.Authority.IsZero() && slices.Contains(newest(candidates), l.Fence.Authority) {
		return l.Fence, false
	}
	a, _ := Select(l.Domain, candidates)
	if a.IsZero() && l.Fence.Authority.IsZero() {
		return l.Fence, false
	}
	return l.Fence.next(a), true
}

// newest orders candidates by node and keeps the newest incarnation of each.
func newest(candidates []Authority) []Authority {
	c := slices.Clone(candidates)
	slices.SortFunc(c, func(a, b Authority) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(b.Incarnation, a.Incarnation))
	})
	c = slices.CompactFunc(c, func(a, b Authority) bool { return a.Node == b.Node })
	return slices.DeleteFunc(c, Authority.IsZero)
}

// hash spreads names over nodes: FNV-1a, then a mixer, because names that differ in their last letter differ in few bits of FNV.
func hash(name ident.Domain) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
