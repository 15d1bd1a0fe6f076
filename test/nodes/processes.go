// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Connectors lists the live processes of the file connector that this test binary built, whoever is their parent. A process that has ended and
// waits for its parent is not live.
func Connectors() []int { return running(built.File) }

func running(program string) []int {
	entries, _ := os.ReadDir("/proc")
	var out []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if target, err := os.Readlink(filepath.Join("/proc", e.Name(), "exe")); err == nil && target == program {
			out = append(out, pid)
		}
	}
	return out
}

// ConnectorsOf lists the live connectors whose parent is a process.
func ConnectorsOf(parent int) []int {
	var out []int
	for _, pid := range Connectors() {
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		if err != nil {
			continue
		}
		// pid (name) state ppid ...; the name may hold anything but ends at the last parenthesis.
		rest := strings.Fields(string(stat)[strings.LastIndexByte(string(stat), ')')+1:])
		if len(rest) > 1 && rest[1] == strconv.Itoa(parent) {
			out = append(out, pid)
		}
	}
	return out
}

// Writers lists the connectors that hold an exclusive lock on a file: those that may write it. Locks of other programs are left out: their file
// may have the same number on another device.
func Writers(path string) []int {
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return nil
	}
	inode := inodeOf(path)
	connectors := Connectors()
	var out []int
	for _, line := range strings.Split(string(locks), "\n") {
		// 1: FLOCK  ADVISORY  WRITE 708 08:02:1234 0 EOF
		f := strings.Fields(line)
		if len(f) < 6 || f[1] != "FLOCK" || f[3] != "WRITE" || !strings.HasSuffix(f[5], ":"+inode) {
			continue
		}
		if pid, err := strconv.Atoi(f[4]); err == nil && slices.Contains(connectors, pid) {
			out = append(out, pid)
		}
	}
	return out
}
