// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"slices"

	"github.com/nervix-go/nervix/host/expr"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// Operation is the word of error.operation for a failure of a construction (nspl 9.5).
type Operation string

// The operations of this package.
const (
	OpInherit    Operation = "inherit"
	OpSet        Operation = "set"
	OpRouteWhere Operation = "route_where"
	OpFinalize   Operation = "finalize"
	OpBranch     Operation = "branch"
)

// Plan is a checked and compiled construction: immutable and shared by all lanes.
type Plan struct {
	target *types.Schema
	// record is where the programs find the columns set so far: RecordOutput, or RecordTarget for keys and error records.
	record expr.RecordID
	steps  []step
	where  *expr.Program
	// paths are the fields of the failure of WHERE.
	paths []string
	// setOp is the operation of a failing assignment.
	setOp Operation
	// reads and assigned say, by field of the target, what a set-only plan reads before it sets it, and what it sets; nil
	// elsewhere.
	reads, assigned []bool
}

// step sets one field: from an input column, from a program, or to null when both are absent.
type step struct {
	field   int
	inherit bool
	input   int
	program *expr.Program
	// paths are the fields assigned and read, sorted, for error.fields.
	paths []string
}

// Target is the schema the plan builds.
func (p *Plan) Target() *types.Schema { return p.target }

// Filtered says whether the construction has a WHERE.
func (p *Plan) Filtered() bool { return p.where != nil }

// paths joins the assigned field with the fields read.
func paths(assigned string, reads []string) []string {
	out := append([]string{assigned}, reads...)
	slices.Sort(out)
	return slices.Compact(out)
}
