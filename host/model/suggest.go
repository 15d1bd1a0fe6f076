// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"

	"github.com/nervix-go/nervix/host/expr"
)

// suggestion is the hint for a name that does not exist: the nearest of the names there are, in words; empty when nothing is near.
func suggestion(word string, candidates []string) string {
	sorted := slices.Clone(candidates)
	slices.Sort(sorted)
	if near := expr.Suggest(word, sorted); near != "" {
		return "did you mean `" + near + "`?"
	}
	return ""
}
