// SPDX-License-Identifier: Apache-2.0

package runtime

import (
	"github.com/nervix-go/nervix/host/kernel/batch"
	"github.com/nervix-go/nervix/host/kernel/lineage"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/lanes"
)

// LineageAnswers settles failed rows of a batch that came over a relay. The batch's own holds stay with the caller.
type LineageAnswers struct {
	Lineage  lineage.Lineage
	Failures []Failure
}

// Refuse implements Answers.
func (a LineageAnswers) Refuse(i int, reason error) {
	a.Lineage.FailRows([]uint32{a.Failures[i].Row}, reason)
}

// Move implements Answers: the error records take a hold of their own. Failures are in row order, each row once.
func (a LineageAnswers) Move(l *lanes.Lane, outlet *Outlet, piece batch.Piece, records []int, now vtime.Logical) {
	rows := make([]uint32, len(records))
	for i, r := range records {
		rows[i] = a.Failures[r].Row
	}
	a.Lineage.Share(1)
	outlet.Add(l, piece, a.Lineage.Select(rows), now)
}
