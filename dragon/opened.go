// SPDX-License-Identifier: Apache-2.0

package dragon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	// idFile holds the id that Dragonboat gives a folder. Nothing of ours depends on it.
	idFile = "NODEHOST.ID"
	// openedFile exists once the folder was opened to the end. Dragonboat writes its flag and id files in place, so a process that is killed
	// while it opens a new folder may leave either half written, and Dragonboat refuses them ever after.
	openedFile = "opened"
)

// finishFirstOpening removes what a first opening that was cut off left half written; Dragonboat makes it again. Nothing was proposed, let
// alone answered, before a folder was opened to the end. In a folder that was, a damaged file is damage and stays.
func finishFirstOpening(dir string) error {
	switch _, err := os.Stat(filepath.Join(dir, openedFile)); {
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	for _, name := range []string{flagFile, idFile} {
		path := filepath.Join(dir, name)
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && intact(b) {
			continue
		}
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil {
			return fmt.Errorf("%s, which an interrupted first start left half written, stays: %w", path, err)
		}
	}
	return nil
}

// markOpened says for later openings that dir was opened to the end.
func markOpened(dir string) error {
	path := filepath.Join(dir, openedFile)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	if err := replace(path, nil); err != nil {
		return err
	}
	return syncDir(dir)
}

// intact tells whether a file of Dragonboat's has the checksum that it begins with.
func intact(b []byte) bool {
	return len(b) >= flagHash && string(b[:flagHash]) == string(flagSum(b[flagHash:]))
}
