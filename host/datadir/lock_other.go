// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package datadir

import (
	"errors"
	"os"
)

// acquire: the host runs on Unix systems; elsewhere only the reader of contexts is used, by the command line client.
func acquire(string) (*os.File, error) {
	return nil, errors.New("a data folder can be opened on Unix systems only")
}
