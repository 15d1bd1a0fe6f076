// SPDX-License-Identifier: Apache-2.0

package fileconn

import (
	"os"

	"golang.org/x/sys/unix"
)

// links is the number of names of an open file.
func links(f *os.File) (uint64, error) {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	return uint64(st.Nlink), err
}
