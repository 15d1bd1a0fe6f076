// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of the format. They cannot be changed without a new version of it.
const (
	// MaxPath is the greatest length of a path in bytes.
	MaxPath = 1024
	// MaxName is the greatest length of one component: what file systems take.
	MaxName = 255
	// MaxDepth is the greatest number of components.
	MaxDepth = 64
	// MaxFile is the greatest size of one file: eleven octal digits.
	MaxFile = 1<<33 - 1
)

// Entry is a directory or a regular file of an archive.
type Entry struct {
	// Path is relative, with slashes, without one at its end.
	Path string
	Dir  bool
	// Size is the length of a file in bytes; 0 for a directory.
	Size uint64
}

// Space is what the entry takes in an archive: header, content, padding.
func (e Entry) Space() uint64 {
	space := uint64(block)
	if extended(e) {
		space += block + padded(uint64(len(record(e))))
	}
	return space + padded(e.Size)
}

// EndSpace is what ends an archive.
const EndSpace = 2 * block

// CheckPath says why a path cannot be in an archive; nil if it can.
func CheckPath(path string) error {
	if why := judge(path); why != nil {
		return why
	}
	return nil
}

func judge(path string) *Reason {
	switch {
	case path == "":
		return reason("the path is empty")
	case len(path) > MaxPath:
		return reason("the path has %d bytes, at most %d are allowed", len(path), MaxPath)
	case !utf8.ValidString(path):
		return reason("the path %s is not UTF-8 text", Quote(path))
	case path[0] == '/':
		return reason("the path %s is absolute", Quote(path))
	}
	for i := range len(path) {
		if path[i] < ' ' || path[i] == 0x7f {
			return reason("the path %s has a control character", Quote(path))
		}
	}
	depth := 0
	for name := range strings.SplitSeq(path, "/") {
		depth++
		switch {
		case name == "":
			return reason("the path %s has an empty component", Quote(path))
		case name == "." || name == "..":
			return reason("the path %s has the component %s", Quote(path), name)
		case len(name) > MaxName:
			return reason("the path %s has a component of %d bytes, at most %d are allowed", Quote(path), len(name), MaxName)
		}
	}
	if depth > MaxDepth {
		return reason("the path %s has %d components, at most %d are allowed", Quote(path), depth, MaxDepth)
	}
	return nil
}

// Compare orders paths as an archive does: by their components, so that all below a directory follows it at once.
func Compare(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] == b[i] {
			continue
		}
		if a[i] == '/' {
			return -1
		}
		if b[i] == '/' || a[i] > b[i] {
			return 1
		}
		return -1
	}
	return len(a) - len(b)
}

// Quote shows a path in a message: printable, and at most 80 bytes of it.
func Quote(path string) string {
	if len(path) > 80 {
		path = path[:80] + ".."
	}
	return fmt.Sprintf("%+q", path)
}

// Reason is why bytes, files or paths do not make an archive, as a clause for people.
type Reason struct {
	text string
	// Limit says that they would, if the limits were greater.
	Limit bool
}

// Error implements error.
func (r *Reason) Error() string { return r.text }

func reason(format string, args ...any) *Reason { return &Reason{text: fmt.Sprintf(format, args...)} }

func beyond(format string, args ...any) *Reason {
	r := reason(format, args...)
	r.Limit = true
	return r
}

// parent is the directory part of a path; empty for a path of one component.
func parent(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }
