// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"os"
	"strconv"
	"syscall"
)

func inodeOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "-"
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "-"
	}
	return strconv.FormatUint(st.Ino, 10)
}
