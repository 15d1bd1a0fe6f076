// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"github.com/nervix-go/nervix/host/expr/loop"
	"slices"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// RecordID names a record whose columns Env supplies.
type RecordID uint8

// The records. Branch is a record of one row that stands for every row. Target is the record under construction where it is not
// the output of a route: a branch key or an error record.
const (
	RecordInput RecordID = iota
	RecordOutput
	RecordBranch
	RecordMetadata
	RecordError
	RecordPartialOutput
	RecordTarget
	RecordCount
)

var recordNames = [RecordCount]string{"input", "output", "branch", "metadata", "error", "partial_output", "target"}

// String is the qualifier under which error.fields lists the record's fields.
func (r RecordID) String() string {
	if r < RecordCount {
		return recordNames[r]
	}
	return "unknown"
}

// Ref is the place of a field: a column of a record, with its exact type.
type Ref struct {
	Record    RecordID
	Column    int
	Field     ident.Name
	Type      types.Type
	Optional  bool
	Sensitive bool
}

// Path is `record.field`, as in error.fields (nspl 9.5).
func (r Ref) Path() string { return r.Record.String() + "." + string(r.Field) }

// Scope says what a path means at one place of a definition. A refusal is a diagnostic with the path's span, a hint where one
// helps, and the scope's name and the node kind where the scope is not available there (nspl 6.3).
type Scope interface {
	Resolve(p *ast.Path) (Ref, *fault.Diagnostic)
}

// Suggest finds the candidate closest to a misspelled word, for a hint; empty if none is close.
func Suggest(word string, candidates []string) string {
	best, limit := "", max(1, len(word)/3)+1
	for _, c := range candidates {
		if d := distance(word, c); d < limit {
			best, limit = c, d
		}
	}
	return best
}

// distance is the edit distance with a swap of neighbours as one edit.
func distance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			row[j+1] = min(row[j]+1, last[j+1]+1, last[j]+int(loop.Bit(a[i] != b[j])))
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

// FieldHint says which field may have been meant, or which exist.
func FieldHint(name ident.Name, s *types.Schema) string {
	names := make([]string, s.Len())
	for i, f := range s.Fields() {
		names[i] = string(f.Name)
	}
	if c := Suggest(string(name), names); c != "" {
		return "did you mean `" + c + "`?"
	}
	slices.Sort(names)
	if len(names) > 12 {
		names = append(names[:12], "...")
	}
	return "its fields are " + strings.Join(names, ", ")
}
