// SPDX-License-Identifier: Apache-2.0

package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/ident"
)

// formedName is the file that says that the cluster of this folder was formed and how far its control plane had come.
const formedName = "formed"

// Formed reads the highest revision of the control plane that is known to have been applied here. formed is false before the first one. A log
// that ends before it has lost what was answered: its last file was cut or damaged, which the log itself takes for its end.
func (d *Dir) Formed() (revision ident.Revision, formed bool, err error) {
	content, err := os.ReadFile(d.join(formedName))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	lines, err := unseal(content)
	if err == nil && len(lines) == 1 && strings.HasPrefix(lines[0], "revision ") {
		n, parsed := strconv.ParseUint(strings.TrimPrefix(lines[0], "revision "), 10, 64)
		if parsed == nil {
			return ident.Revision(n), true, nil
		}
		err = parsed
	}
	if err == nil {
		err = errDamaged
	}
	return 0, false, damaged(d.path, fmt.Errorf("file %s cannot be read as what it is: %w", formedName, err))
}

// SetFormed records a revision that was applied. It is durable when it returns.
func (d *Dir) SetFormed(revision ident.Revision) error {
	return replace(d.join(formedName), seal(fmt.Sprintf("revision %d\n", revision)), privateFile)
}

// Lost lists the names inside a formed folder that must be there and are not: without this check a lost file would quietly be made anew.
func (d *Dir) Lost(names ...string) []string {
	var lost []string
	for _, name := range names {
		info, err := os.Stat(d.join(name))
		if errors.Is(err, fs.ErrNotExist) {
			lost = append(lost, name)
			continue
		}
		if err != nil || !info.IsDir() {
			continue
		}
		if entries, err := os.ReadDir(d.join(name)); err == nil && len(entries) == 0 {
			lost = append(lost, name)
		}
	}
	return lost
}
