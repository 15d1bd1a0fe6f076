// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"maps"
	"slices"
)

// byClass lists rejections by reason, ascending.
func byClass(rejected map[string]uint64) record {
	list := record{}
	for _, reason := range slices.Sorted(maps.Keys(rejected)) {
		list = append(list, pair{reason, rejected[reason]})
	}
	return list
}

func sum(rejected map[string]uint64) (n uint64) {
	for _, count := range rejected {
		n += count
	}
	return n
}
