// SPDX-License-Identifier: Apache-2.0

//go:build unix

package datadir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// acquire locks the folder for this process. The lock belongs to the open file, so it ends with the process however that ends; the
// process id in the file is for people.
func acquire(folder string) (*os.File, error) {
	path := filepath.Join(folder, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, publicFile)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder := holderOf(f)
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fault.New(fault.DaemonLocked, "datadir.Open", ident.Ref{},
				fmt.Sprintf("data folder %s is in use by %s", folder, holder), nil)
		}
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	if err := f.Truncate(0); err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
		if err != nil {
			_ = f.Close()
			return nil, fmt.Errorf("writing %s: %w", path, err)
		}
	}
	return f, nil
}

// holderOf names the process that wrote the lock file.
func holderOf(f *os.File) string {
	text, err := io.ReadAll(io.LimitReader(f, 32))
	pid := strings.TrimSpace(string(text))
	if _, bad := strconv.ParseUint(pid, 10, 32); err != nil || bad != nil {
		return "another process"
	}
	return "process " + pid
}
