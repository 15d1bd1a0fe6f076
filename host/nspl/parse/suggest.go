// SPDX-License-Identifier: Apache-2.0

package parse

// nearest finds the candidate a word was probably meant to be: at most one edit away for short words, two for longer ones. Ties go to
// the first candidate.
func nearest(word string, candidates []string) string {
	most := 1
	if len(word) > 4 {
		most = 2
	}
	best := ""
	if len(word) < 2 || len(word) > 40 {
		return best
	}
	for _, c := range candidates {
		if d := edits(word, c); d <= most {
			best, most = c, d-1
		}
	}
	return best
}

// edits counts insertions, deletions, replacements and swaps of neighbours (the restricted Damerau distance).
func edits(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
