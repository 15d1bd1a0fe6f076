// SPDX-License-Identifier: Apache-2.0

package expr

import "github.com/nervix-go/nervix/host/kernel/types"

// choice is IF and both forms of CASE: conditions are tried in written order among the rows still undecided, and each arm is
// evaluated for the rows that selected it only (nspl 6.2). A nil arm is NULL.
type choice struct {
	kind types.Scalar
	// operand is set for a simple CASE; the matches are then compared with it.
	operand node
	matches []node
	results []node
	other   node
	place
}

func (x *choice) eval(r *run, sel []byte) column {
	var operand column
	if x.operand != nil {
		operand = x.operand.eval(r, sel)
	}
	var room [8]arm
	arms := room[:0]
	open := sel
	for i, match := range x.matches {
		if open != nil && !anySet(open, r.n) {
			break
		}
		cond := match.eval(r, open)
		if x.operand != nil {
			cond = r.compare(opEQ, &operand, &cond, false)
		}
		taken := r.truth(&cond, open)
		if !anySet(taken, r.n) {
			continue
		}
		if len(arms) == 0 && allSet(taken, r.n) && x.results[i] != nil {
			return x.results[i].eval(r, sel)
		}
		if x.results[i] != nil {
			arms = append(arms, arm{x.results[i].eval(r, taken), taken})
		}
		open = r.without(open, taken)
	}
	if x.other != nil && (open == nil || anySet(open, r.n)) {
		if len(arms) == 0 && allSet(open, r.n) {
			return x.other.eval(r, sel)
		}
		if open == nil {
			open = r.without(nil, r.mem.zeros(r.n))
		}
		arms = append(arms, arm{x.other.eval(r, open), open})
	}
	if len(arms) == 0 {
		return r.nulls(x.kind)
	}
	return r.blend(x.kind, arms, sel, x.root)
}
