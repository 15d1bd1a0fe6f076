// SPDX-License-Identifier: Apache-2.0

package fileconn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/plugins/sdk"
)

const (
	// lockWait is how long a successor waits for the lock of an orphan (nspl 14.6).
	lockWait = 5 * time.Second
	lockPoll = 50 * time.Millisecond
	// writeBuffer is gathered before a write.
	writeBuffer = 1 << 20
)

// sink appends lines to one file. size is the length up to which the file is known to hold whole, synced lines.
type sink struct {
	request sdk.SinkRequest
	log     *slog.Logger
	file    *os.File
	path    string // absolute
	size    int64
	dirty   bool // bytes beyond size could not be cut off
	buf     []byte
}

// Open implements sdk.Sink.
func (s *sink) Open(ctx context.Context, r sdk.SinkRequest) error {
	name, err := cleanPath(r.Options["path"])
	if err != nil {
		return err
	}
	root, abs, err := openRoot(r.Client, r.Environment)
	if err != nil {
		return err
	}
	defer root.Close()
	s.request, s.log = r, r.Environment.Log
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.path, s.dirty = filepath.Join(abs, name), false
	if err := s.create(root, name); err != nil {
		return err
	}
	if err := s.lock(ctx); err != nil {
		return err
	}
	return s.repair()
}

// create opens the file, making it and its folders; their entries are synced so that a confirmed line cannot vanish with them.
func (s *sink) create(root *os.Root, name string) error {
	dir := filepath.Dir(name)
	f, err := root.OpenFile(name, os.O_RDWR, 0)
	created := errors.Is(err, os.ErrNotExist)
	if created {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return s.openError(err)
		}
		f, err = root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	}
	if err != nil {
		return s.openError(err)
	}
	s.file = f
	info, err := f.Stat()
	if err != nil {
		return s.wrap(err)
	}
	if !info.Mode().IsRegular() {
		return sdk.Definitive(fmt.Errorf("%s is not a regular file", s.path))
	}
	for d := dir; created; d = filepath.Dir(d) {
		if err := syncDir(root, d); err != nil {
			return s.wrap(err)
		}
		if d == "." {
			break
		}
	}
	return nil
}

func syncDir(root *os.Root, dir string) error {
	d, err := root.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func (s *sink) wrap(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("%s: %w", s.path, err)
}

func (s *sink) openError(err error) error {
	err = s.wrap(err)
	if isEscape(err) || errors.Is(err, os.ErrPermission) || errors.Is(err, unix.EISDIR) {
		return sdk.Definitive(err)
	}
	return err
}

// lock takes the file for itself; an orphan of a killed host lets go within moments.
func (s *sink) lock(ctx context.Context) error {
	for enough := osclock.After(lockWait); ; {
		err := unix.Flock(int(s.file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			return s.wrap(err)
		case enough.Left() <= 0:
			return fmt.Errorf("%s is locked by another writer; one emitter may write a path, and others may not hold its lock", s.path)
		}
		if err := osclock.Wait(ctx, lockPoll); err != nil {
			return s.wrap(err)
		}
	}
}

// repair cuts an unterminated last line off: a line is whole or absent.
func (s *sink) repair() error {
	info, err := s.file.Stat()
	if err != nil {
		return s.wrap(err)
	}
	end := info.Size()
	b := make([]byte, 64<<10)
	for end > 0 {
		from := max(0, end-int64(len(b)))
		part := b[:end-from]
		if _, err := s.file.ReadAt(part, from); err != nil {
			return s.wrap(err)
		}
		if i := bytes.LastIndexByte(part, newline); i >= 0 {
			end = from + int64(i) + 1
			break
		}
		end = from
	}
	s.size = end
	if end < info.Size() {
		if err := s.cutBack(); err != nil {
			return err
		}
		if err := unix.Fdatasync(int(s.file.Fd())); err != nil {
			return s.wrap(err)
		}
	}
	return nil
}

// cutBack removes everything behind the last good line.
func (s *sink) cutBack() error {
	s.dirty = true
	if err := s.file.Truncate(s.size); err != nil {
		return s.wrap(err)
	}
	s.dirty = false
	return nil
}

// Publish implements sdk.Sink: everything is written and synced, or nothing of it stays.
func (s *sink) Publish(ctx context.Context, p sdk.Payloads, a *sdk.Answers) error {
	if err := s.stay(ctx); err != nil {
		return err
	}
	if s.dirty {
		if err := s.cutBack(); err != nil {
			return err
		}
	}
	end, err := s.write(p)
	if err == nil && end > s.size {
		if err = unix.Fdatasync(int(s.file.Fd())); err != nil {
			err = s.wrap(err)
		} else {
			err = s.kept()
		}
	}
	if err != nil {
		return errors.Join(err, s.cutBack())
	}
	s.size = end
	s.answer(p, a)
	return nil
}

func (s *sink) write(p sdk.Payloads) (end int64, err error) {
	if s.buf == nil {
		s.buf = make([]byte, 0, writeBuffer)
	}
	end = s.size
	flush := func() error {
		n, err := s.file.WriteAt(s.buf, end)
		end += int64(n)
		s.buf = s.buf[:0]
		if err != nil {
			return s.wrap(err)
		}
		return nil
	}
	for i := range p.Len() {
		text := p.Payload(i)
		if bytes.IndexByte(text, newline) >= 0 {
			continue
		}
		if len(s.buf) > 0 && len(s.buf)+len(text)+1 > writeBuffer {
			if err := flush(); err != nil {
				return end, err
			}
		}
		s.buf = append(append(s.buf, text...), newline)
	}
	err = flush()
	if cap(s.buf) > 4*writeBuffer {
		s.buf = nil
	}
	return end, err
}

// answer tells the outcome in runs. A payload with a line end in it would become two lines, so it is refused.
func (s *sink) answer(p sdk.Payloads, a *sdk.Answers) {
	run := 0
	for i := 0; i <= p.Len(); i++ {
		if i < p.Len() && bytes.IndexByte(p.Payload(i), newline) < 0 {
			continue
		}
		if i > run {
			a.Delivered(p.ID(run), p.ID(i-1))
		}
		if i < p.Len() {
			a.Rejected(p.ID(i), p.ID(i), "the payload holds a line end, so it cannot be one line of a file")
		}
		run = i + 1
	}
}

// Close implements sdk.Sink; the lock goes with the file.
func (s *sink) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
