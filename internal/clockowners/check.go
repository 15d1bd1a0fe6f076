// SPDX-License-Identifier: Apache-2.0

package clockowners

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Owner is one line of the list: what a package may use, in which time class, and why. A path that ends in .go stands for one file.
type Owner struct {
	Path  string
	Class Class
	// Calls are separated by blanks.
	Calls string
	Why   string
}

func (o Owner) calls() []string { return strings.Fields(o.Calls) }

func (o Owner) covers(u Use) bool {
	return (o.Path == u.Package || o.Path == u.File) && slices.Contains(o.calls(), u.Call)
}

// Check compares uses with owners and lists what does not fit, uses first.
func Check(uses []Use, owners []Owner) []string {
	var out []string
	needed := make(map[string]bool) // owner and call
	for _, u := range uses {
		declared := false
		for i, o := range owners {
			if o.covers(u) {
				declared = true
				needed[fmt.Sprint(i, u.Call)] = true
			}
		}
		if !declared {
			out = append(out, fmt.Sprintf("%s: %s (%s) has no owner. Take domain time from a bound clock, or a reading as an argument; if it has to be the machine's clock, "+
				"add a line to internal/clockowners/owners.go: {%q, %s, %q, \"why\"},", u.At(), u.Call, words(classesOf(u.Call)), u.Package, constant(u.Call), u.Call))
		}
	}
	for i, o := range owners {
		out = append(out, lineFaults(i, o, owners)...)
		for _, c := range o.calls() {
			if !needed[fmt.Sprint(i, c)] {
				out = append(out, fmt.Sprintf("owners.go: %s (%s) no longer uses %s; take it out of the line", o.Path, o.Class, c))
			}
		}
	}
	return out
}

func lineFaults(i int, o Owner, owners []Owner) (out []string) {
	if o.Why == "" {
		out = append(out, "owners.go: "+o.Path+" has no reason")
	}
	if i > 0 && (owners[i-1].Path > o.Path || owners[i-1].Path == o.Path && owners[i-1].Class >= o.Class) {
		out = append(out, "owners.go: "+o.Path+" ("+string(o.Class)+") is out of order; lines are sorted by path and class, one for each")
	}
	if o.Path != path.Clean(o.Path) || strings.Contains(o.Path, "*") {
		out = append(out, "owners.go: "+o.Path+" is no package or file")
	}
	for _, c := range o.calls() {
		if !slices.Contains(classesOf(c), o.Class) {
			out = append(out, fmt.Sprintf("owners.go: %s declares %s as %s, but it is %s", o.Path, c, o.Class, words(classesOf(c))))
		}
	}
	return out
}

func words(classes []Class) string {
	all := make([]string, len(classes))
	for i, c := range classes {
		all[i] = string(c)
	}
	return strings.Join(all, " or ")
}

// constant is the class as it stands in owners.go.
func constant(call string) string {
	return map[Class]string{UTC: "UTC", Physical: "Physical", Logical: "Logical"}[classesOf(call)[0]]
}
