// SPDX-License-Identifier: Apache-2.0

package fileconn

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// folder is where a followed file has its name, and where rotation leaves the files that had it before.
type folder struct {
	root *os.Root
	name string // of the followed file, below root
}

// errChanging says that files changed their names while they were looked at.
var errChanging = errors.New("the files beside it keep changing their names")

// open opens a file by name; it must be regular.
func (d folder) open(name string) (*os.File, fs.FileInfo, error) {
	f, err := d.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // without the flag a pipe waits for its writer
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

var errNotRegular = errors.New("is not a regular file")

// beside is one file of the folder at one moment.
type beside struct {
	name string
	info fs.FileInfo
	// current says that it is what the path names.
	current bool
}

// snapshot lists the regular files of the folder as they were at one moment: it looks until two looks agree. The path comes first; it is left
// out while it is missing.
func (d folder) snapshot() ([]beside, error) {
	var before []beside
	for range 20 {
		now, err := d.list()
		if err != nil {
			return nil, err
		}
		if before != nil && slices.EqualFunc(before, now, func(a, b beside) bool { return a.name == b.name && os.SameFile(a.info, b.info) }) {
			return now, nil
		}
		before = now
	}
	return nil, errChanging
}

func (d folder) list() ([]beside, error) {
	dir, err := d.root.Open(filepath.Dir(d.name))
	if err != nil {
		return nil, err
	}
	names, err := dir.Readdirnames(-1)
	if err = errors.Join(err, dir.Close()); err != nil {
		return nil, err
	}
	slices.Sort(names)
	all := []beside{}
	if info, err := d.root.Stat(d.name); err == nil && info.Mode().IsRegular() {
		all = append(all, beside{d.name, info, true})
	}
	for _, n := range names {
		n = filepath.Join(filepath.Dir(d.name), n)
		if info, err := d.root.Lstat(n); err == nil && info.Mode().IsRegular() && n != d.name {
			all = append(all, beside{n, info, false})
		}
	}
	return all, nil
}

// look opens a file of a snapshot; errChanging if the name has moved on to another.
func (d folder) look(b beside) (*os.File, fs.FileInfo, error) {
	f, info, err := d.open(b.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, errChanging
	case err != nil:
		return nil, nil, err
	case !os.SameFile(info, b.info):
		return nil, nil, errors.Join(errChanging, f.Close())
	}
	return f, info, nil
}

// counter is what rotation puts into a name: numbers and dates. old is the other custom.
var counter = regexp.MustCompile(`^[-._][-._:+TZ0-9]*[0-9]Z?$`)

// number is a counter that grows with the age of the file; dates grow with its youth.
var number = regexp.MustCompile(`^[-._][0-9]{1,3}$`)

// inOrder compares names by the age of their files: negative when a is the older one. The path itself has the youngest.
func (d folder) inOrder(a, b string) int {
	if a == d.name || b == d.name {
		return cmp.Compare(btoi(a == d.name), btoi(b == d.name))
	}
	x, y := d.counter(a), d.counter(b)
	if number.MatchString(x) && number.MatchString(y) {
		n, _ := strconv.Atoi(x[1:])
		m, _ := strconv.Atoi(y[1:])
		return cmp.Compare(m, n)
	}
	return cmp.Compare(x, y)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// rotated says whether a name is one that rotation gives to the files that had the path before: `app.log.1`, `app.log-20310501`, `app-2031-05-01.log`,
// `app.log.old`. Compressed files and other streams (`app-errors.log`) are none.
func (d folder) rotated(name string) bool { return d.counter(name) != "" }

// counter is what rotation added to the name; empty if it did not.
func (d folder) counter(name string) string {
	if filepath.Dir(name) != filepath.Dir(d.name) {
		return ""
	}
	base, name := filepath.Base(d.name), filepath.Base(name)
	if rest, ok := strings.CutPrefix(name, base); ok && (counter.MatchString(rest) || rest == ".old") {
		return rest
	}
	extension := filepath.Ext(base)
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(base, extension))
	if rest, cut := strings.CutSuffix(rest, extension); ok && cut && extension != "" && counter.MatchString(rest) {
		return rest
	}
	return ""
}

// startsLike says whether f begins with the bytes.
func startsLike(f io.ReaderAt, head []byte) bool {
	got, err := headOf(f, int64(len(head)))
	return err == nil && string(got) == string(head)
}
