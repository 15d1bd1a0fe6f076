// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// formedName is the file that says that this folder's cluster was formed: from then on the control plane's log and the store must be there.
// Without it a lost log would quietly become a new, empty cluster.
const formedName = "formed"

// checkFormed refuses a folder that has lost its log or its store: source positions would be forgotten without a word.
func checkFormed(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, formedName)); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	for name, what := range map[string]string{"raft": "the log of its control plane", "state": "the store of its source positions"} {
		entries, err := os.ReadDir(filepath.Join(dir, name))
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		case len(entries) == 0:
			return fault.New(fault.DaemonDamaged, "nervixd", ident.Ref{}, "data folder "+dir+" has lost "+what+": folder "+name+" is missing or empty", nil)
		}
	}
	return nil
}

// markFormed writes the file once, durably.
func markFormed(dir string) error {
	path := filepath.Join(dir, formedName)
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(f.Sync(), f.Close())
	folder, openErr := os.Open(dir)
	if openErr != nil {
		return errors.Join(err, openErr)
	}
	return errors.Join(err, folder.Sync(), folder.Close())
}
