// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/nervix-go/nervix/host/kernel/archive"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// MaxSkipped is how many skipped entries an outcome names.
const MaxSkipped = 100

// Folder is a folder that can be uploaded. It was looked through once, so that its size is known; it is read while it is sent.
type Folder struct {
	root  *os.Root
	files uint64
	bytes uint64
	// space is the length of its archive.
	space       uint64
	skipped     []Skipped
	skippedMore int
}

// OpenFolder looks a folder through. Errors have the code resource.folder. Client.Upload does it by itself.
func OpenFolder(ctx context.Context, path string) (*Folder, error) {
	if path == "" {
		return nil, unusable("no folder is named", nil)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, unusable("the folder cannot be opened", err)
	}
	f := &Folder{root: root, space: archive.EndSpace}
	err = f.walk(ctx, ".", func(e archive.Entry, _ fs.FileInfo) error {
		f.space += e.Space()
		if !e.Dir {
			f.files++
			f.bytes += e.Size
		}
		return nil
	}, f.skip)
	if err == nil && f.files == 0 {
		err = unusable("the folder "+path+" holds no regular file", nil)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ExpandHome gives a path that begins with `~/`, or is `~`, its place in the home folder of the user; others stay as they are.
func ExpandHome(path string) (string, error) {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || rest != "" && rest[0] != '/' {
		return path, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", unusable("the home folder of "+path+" is not known", err)
	}
	return filepath.Join(home, rest), nil
}

// Skipped are entries that are left out, at most MaxSkipped; more counts the others.
func (f *Folder) Skipped() (named []Skipped, more int) { return f.skipped, f.skippedMore }

// Close ends the use of the folder.
func (f *Folder) Close() { _ = f.root.Close() }

func (f *Folder) skip(path, why string) {
	if len(f.skipped) == MaxSkipped {
		f.skippedMore++
		return
	}
	f.skipped = append(f.skipped, Skipped{path, why})
}

// walk shows directories and regular files in the order of an archive, and what it leaves out.
func (f *Folder) walk(ctx context.Context, dir string, visit func(archive.Entry, fs.FileInfo) error, skip func(path, why string)) error {
	entries, err := fs.ReadDir(f.root.FS(), dir) // sorted by name, which is the order of components
	if err != nil {
		return unusable("", err)
	}
	for _, one := range entries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		path := one.Name()
		if dir != "." {
			path = dir + "/" + path
		}
		info, err := one.Info() // does not follow a link
		if err != nil {
			return unusable("", err)
		}
		e := archive.Entry{Path: path, Dir: info.IsDir()}
		switch {
		case !e.Dir && !info.Mode().IsRegular():
			skip(path, modeWords(info.Mode()))
			continue
		case !e.Dir:
			e.Size = uint64(info.Size())
		}
		if err := archive.CheckPath(path); err != nil {
			return unusable("", err)
		}
		if e.Size > archive.MaxFile {
			return unusable(fmt.Sprintf("the file %s has %d bytes, at most %d are allowed", archive.Quote(path), e.Size, uint64(archive.MaxFile)), nil)
		}
		if err := visit(e, info); err != nil {
			return err
		}
		if e.Dir {
			if err := f.walk(ctx, path, visit, skip); err != nil {
				return err
			}
		}
	}
	return nil
}

func modeWords(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// Send writes the archive of the folder, whose BLAKE3 digest is the identity of the version. An error of to comes as it is; others have the
// code resource.folder.
func (f *Folder) Send(ctx context.Context, to io.Writer) error {
	w := archive.NewWriter(to)
	buffer := make([]byte, uploadChunk)
	err := f.walk(ctx, ".", func(e archive.Entry, info fs.FileInfo) error {
		if e.Dir {
			return w.Begin(e)
		}
		return f.sendFile(w, e, info, buffer)
	}, func(string, string) {})
	if err != nil {
		return err
	}
	return w.Close()
}

// sendFile sends one file, which must still be what the walk saw.
func (f *Folder) sendFile(w *archive.Writer, e archive.Entry, seen fs.FileInfo, buffer []byte) error {
	file, err := f.root.OpenFile(e.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe that took the name does not block
	if err != nil {
		return unusable("", err)
	}
	defer func() { _ = file.Close() }()
	changed := unusable("the file "+archive.Quote(e.Path)+" changed while it was uploaded", nil)
	now, err := file.Stat()
	if err != nil {
		return unusable("", err)
	}
	if !os.SameFile(seen, now) || now.Size() != seen.Size() {
		return changed
	}
	if err := w.Begin(e); err != nil {
		return err
	}
	for left := e.Size; ; {
		n, err := file.Read(buffer)
		if uint64(n) > left {
			return changed
		}
		left -= uint64(n)
		if _, failed := w.Write(buffer[:n]); failed != nil {
			return failed
		}
		switch {
		case errors.Is(err, io.EOF) && left == 0:
			return nil
		case errors.Is(err, io.EOF):
			return changed
		case err != nil:
			return unusable("", err)
		}
	}
}

func unusable(detail string, cause error) error {
	return fault.New(fault.ResourceFolder, "client.Upload", ident.Ref{}, detail, cause)
}
