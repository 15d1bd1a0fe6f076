// SPDX-License-Identifier: Apache-2.0

package fileconn

import (
	"os"

	"golang.org/x/sys/unix"
)

// unwritten says that nobody has the file open for writing. A read lease is granted only then; it is given back at once, so a writer that comes in
// between waits for no longer than that. The lease is for owners of the file and for root: to others the answer is no.
func unwritten(f *os.File) bool {
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_RDLCK); err != nil {
		return false
	}
	_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_UNLCK)
	return err == nil
}

// birth is when the file was made, in ns of UTC; 0 where the file system keeps no such time.
func birth(f *os.File) int64 {
	var st unix.Statx_t
	if err := unix.Statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &st); err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return 0
	}
	return st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
}
