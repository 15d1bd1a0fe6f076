// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/print"
)

// from lists the inputs of a node with their predicates.
func from(in ast.Inputs) spoken {
	var texts []string
	var list rows
	for _, one := range in.From {
		text, where := string(one.Relay.Name), any(nil)
		if one.Where != nil {
			predicate := print.Expr(one.Where)
			text, where = text+" WHERE "+predicate, predicate
		}
		texts = append(texts, text)
		list = append(list, record{{"relay", string(one.Relay.Name)}, {"where", where}})
	}
	return spoken{strings.Join(texts, ", "), list}
}

// output is the line of one route: `output 0: into=r construction=present branch=b flush=1s max-batch-size=256KiB`.
func output(plan model.Route, branch string, written ast.Route) pair {
	return pair{"output " + strconv.Itoa(plan.Index), record{
		{"into", string(plan.Relay.Ref.Name)}, {"construction", construction(written.Construct)}, {"branch", branch},
		{"flush", flushWord(written.Flush)}, {"max-batch-size", batchSize(written.Flush)},
	}}
}

// construction tells whether a route changes its rows.
func construction(c ast.Construct) string {
	if c.Inherit == nil && len(c.Set) == 0 && c.Where == nil {
		return "absent"
	}
	return "present"
}

// flushWord is the interval as it was written.
func flushWord(f ast.Flush) string {
	if f.Immediate {
		return "IMMEDIATE"
	}
	return f.Each.Text
}

func batchSize(f ast.Flush) any {
	if f.Immediate {
		return nil
	}
	return f.MaxBatch.Text
}

// expression is a predicate in words, nil when there is none.
func expression(x ast.Expr) any {
	if x == nil {
		return nil
	}
	return print.Expr(x)
}

// options lists connector options by name.
func options(o map[string]string) record {
	names := make([]string, 0, len(o))
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	var made record
	for _, name := range names {
		made = append(made, pair{name, o[name]})
	}
	return made
}

// span is a duration, nil for zero.
func span(d time.Duration) any {
	if d == 0 {
		return nil
	}
	return d.String()
}
