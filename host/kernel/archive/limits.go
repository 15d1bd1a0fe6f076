// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"math"
	"strings"
)

// Limits bound one version (nspl 25).
type Limits struct {
	// Archive is the greatest length of an archive in bytes, Bytes that of all files together.
	Archive, Bytes uint64
	// Files is the greatest number of regular files; there may be as many directories.
	Files uint64
}

// DefaultLimits are 4 GiB, 16 GiB and 1,000,000 files.
var DefaultLimits = Limits{Archive: 4 << 30, Bytes: 16 << 30, Files: 1_000_000}

var unlimited = Limits{math.MaxUint64, math.MaxUint64, math.MaxUint64}

// Totals count what an archive holds.
type Totals struct{ Files, Dirs, Bytes uint64 }

// walk checks the sequence of entries: order, parents, limits. Both sides use it.
type walk struct {
	limits Limits
	totals Totals
	// last is the path before; open is the directory that it is, or lies in.
	last, open string
}

// take checks the next entry and counts it.
func (w *walk) take(e Entry) *Reason {
	if why := judge(e.Path); why != nil {
		return why
	}
	switch order := Compare(e.Path, w.last); {
	case w.last == "":
	case order == 0:
		return reason("the path %s comes twice", Quote(e.Path))
	case order < 0:
		return reason("the path %s comes after %s, so the archive is not in order", Quote(e.Path), Quote(w.last))
	}
	above := parent(e.Path)
	if above != "" && above != w.open && !strings.HasPrefix(w.open, above+"/") {
		return reason("the path %s has no directory %s before it", Quote(e.Path), Quote(above))
	}
	switch {
	case e.Dir && e.Size != 0:
		return reason("the directory %s has a content", Quote(e.Path))
	case e.Size > MaxFile:
		return reason("the file %s has %d bytes, at most %d are allowed", Quote(e.Path), e.Size, uint64(MaxFile))
	case e.Dir && w.totals.Dirs >= w.limits.Files:
		return beyond("there are more than %d directories", w.limits.Files)
	case !e.Dir && w.totals.Files >= w.limits.Files:
		return beyond("there are more than %d files", w.limits.Files)
	case e.Size > w.limits.Bytes-w.totals.Bytes:
		return beyond("the files together have more than %d bytes", w.limits.Bytes)
	}
	w.last, w.open = e.Path, above
	if e.Dir {
		w.open = e.Path
		w.totals.Dirs++
	} else {
		w.totals.Files++
		w.totals.Bytes += e.Size
	}
	return nil
}
