// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"os"
	"strconv"
)

// MapBudget is how many memory maps guests may have: 80 % of what the kernel allows this process, less those in use. Running into the
// kernel's limit is not an error anybody can handle: the Go runtime dies on the next allocation.
func MapBudget() uint64 {
	const fallback = 65530 // the kernel's default
	limit := uint64(fallback)
	if text, err := os.ReadFile("/proc/sys/vm/max_map_count"); err == nil {
		if n, err := strconv.ParseUint(string(bytes.TrimSpace(text)), 10, 64); err == nil {
			limit = n
		}
	}
	used := uint64(MapCount())
	if limit = limit / 5 * 4; limit > used {
		return limit - used
	}
	return 0
}

// MapCount is the number of memory maps of this process now, 0 where the system does not tell.
func MapCount() int {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0
	}
	return bytes.Count(maps, []byte{'\n'})
}
