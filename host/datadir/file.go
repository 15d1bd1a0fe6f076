// SPDX-License-Identifier: Apache-2.0

package datadir

import (
	"errors"
	"os"
	"path/filepath"
)

// Modes of what the package makes.
const (
	privateFile = 0o600
	publicFile  = 0o644
	folderMode  = 0o700
)

// temporarySuffix marks a file that has not been renamed yet; one that a crash left behind is overwritten by the next write.
const temporarySuffix = ".new"

// replace writes a file so that a reader sees the old or the new content, whole, also after a power failure. The mode holds from the
// first byte on.
func replace(path string, content []byte, mode os.FileMode) (err error) {
	temporary := path + temporarySuffix
	if err := os.Remove(temporary); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temporary)
		}
	}()
	if _, err = f.Write(content); err == nil {
		err = f.Chmod(mode) // whatever the umask left
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err == nil {
		err = syncFolder(filepath.Dir(path))
	}
	return err
}

func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
