// SPDX-License-Identifier: Apache-2.0

package fileconn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/plugins/sdk"
)

// source reads the lines of one file.
type source struct {
	seen *endings
	now  func() vtime.Mono

	file  *os.File
	path  string // absolute
	limit int
	lines *lines
	tail  *tail // nil unless the file is followed
	pos   [placeBytes]byte
}

// Open implements sdk.Source.
func (s *source) Open(_ context.Context, r sdk.SourceRequest) (sdk.SourceOpened, error) {
	var none sdk.SourceOpened
	limit, err := strconv.ParseInt(r.Client["max_line_bytes"], 10, 63)
	if err != nil || limit < 1 || limit > int64(r.Environment.MaxPayload) {
		return none, sdk.Definitive(fmt.Errorf("max_line_bytes must be between 1 and %d", r.Environment.MaxPayload))
	}
	name, err := cleanPath(r.Options["path"])
	if err != nil {
		return none, err
	}
	root, abs, err := openRoot(r.Client, r.Environment)
	if err != nil {
		return none, err
	}
	s.path, s.limit = filepath.Join(abs, name), int(limit)
	if r.Options["follow"] == "true" {
		s.tail = &tail{folder: folder{root, name}, now: s.now, wait: osclock.Wait, unwritten: unwritten}
		return s.openFollowed(r)
	}
	defer root.Close()
	return s.openOnce(folder{root, name}, r)
}

// openOnce opens a file that is read to its end.
func (s *source) openOnce(d folder, r sdk.SourceRequest) (none sdk.SourceOpened, err error) {
	f, info, err := d.open(d.name)
	if err != nil {
		return none, s.openError(err)
	}
	s.file = f
	id, at, why, err := recognize(s.file, info.Size(), r.Identity, r.Position)
	if err != nil {
		return none, s.named(err)
	}
	return s.begin(id, at, why != "", why)
}

// openFollowed opens the file that a followed source goes on with.
func (s *source) openFollowed(r sdk.SourceRequest) (none sdk.SourceOpened, err error) {
	b, err := s.tail.resume(r, s.seen, s.path)
	if err != nil {
		return none, s.openError(err)
	}
	s.file = b.file
	if err := s.tail.begin(b.file, b.id, b.at); err != nil {
		return none, s.named(err)
	}
	return s.begin(b.id.bytes(), b.at, b.anew, b.why)
}

// begin reads on at a place. anew without a reason is the ordinary way on.
func (s *source) begin(id []byte, at place, anew bool, why string) (sdk.SourceOpened, error) {
	at, err := pastItsEnd(s.file, at)
	if err != nil {
		return sdk.SourceOpened{}, s.named(err)
	}
	s.lines = newLines(s.file, s.limit, at)
	s.lines.tail = s.tail != nil
	out := sdk.SourceOpened{Identity: id, Constants: map[string]string{"path": s.path}, Restarted: anew}
	if why != "" {
		out.Detail = s.path + ": " + why + "; reading begins at its start"
	}
	return out, nil
}

func (s *source) named(err error) error { return fmt.Errorf("%s: %w", s.path, err) }

// openError names the absolute path; what a retry will not mend is definitive.
func (s *source) openError(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	if errors.Is(err, errNotRegular) {
		return sdk.Definitive(fmt.Errorf("%s %w", s.path, errNotRegular))
	}
	err = s.named(err)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) || isEscape(err) {
		return sdk.Definitive(err)
	}
	return err
}

// Read implements sdk.Source.
func (s *source) Read(ctx context.Context, b *sdk.Batch) error {
	if s.tail != nil {
		return s.follow(ctx, b)
	}
	return s.fill(b)
}

// fill adds the lines that are there; io.EOF at the end of the file.
func (s *source) fill(b *sdk.Batch) error {
	for !b.Full() {
		start := s.lines.at
		if text := s.lines.quick(); len(text) > 0 {
			s.good(b, text, place{start, s.lines.at, s.lines.number})
			continue
		} else if text != nil {
			b.Skip(1)
			continue
		}
		l, err := s.lines.next()
		if err == io.EOF {
			return err
		}
		if err != nil {
			return s.named(err)
		}
		if len(l.text) == 0 && !l.tooLong {
			b.Skip(1)
			continue
		}
		s.add(b, l)
	}
	return nil
}

func (s *source) add(b *sdk.Batch, l line) {
	if !l.tooLong {
		s.good(b, l.text, l.place)
		return
	}
	s.put(l.place)
	b.AppendError(s.pos[:], fmt.Sprintf("line %d at offset %d is longer than max_line_bytes (%d)", l.place.line, l.place.start, s.limit))
	s.metadata(b, l.place)
}

func (s *source) good(b *sdk.Batch, text []byte, p place) {
	s.put(p)
	b.Append(text, s.pos[:])
	s.metadata(b, p)
}

// put encodes a position.
func (s *source) put(p place) {
	p.put(&s.pos)
	if s.tail != nil {
		s.tail.last = max(s.tail.last, p.end)
	}
}

func (s *source) metadata(b *sdk.Batch, p place) {
	b.SetInt64(metaLine, p.line)
	b.SetInt64(metaOffset, p.start)
}

// Reject implements sdk.Source: the line is read again.
func (s *source) Reject(_ context.Context, position []byte, b *sdk.Batch) error {
	p, ok := parsePlace(position)
	if !ok {
		return fmt.Errorf("%s: a rejected position that is not one of this connector", s.path)
	}
	again := newLines(s.file, s.limit, place{end: p.start, line: p.line - 1})
	l, err := again.next()
	if err != nil && err != io.EOF {
		return s.named(err)
	}
	if err == io.EOF || l.place.end < p.end {
		return fmt.Errorf("%s: line %d at offset %d is gone, the file was changed", s.path, p.line, p.start)
	}
	if l.place.end > p.end { // the last line had no end when it was first read and has grown since
		l.text, l.place.end = l.text[:min(int64(len(l.text)), p.end-p.start)], p.end
	}
	s.add(b, l)
	return nil
}

// Acknowledge implements sdk.Acknowledger.
func (s *source) Acknowledge(_ context.Context, position []byte) error {
	if p, ok := parsePlace(position); ok && s.tail != nil {
		s.tail.safe = max(s.tail.safe, p.end)
	}
	return nil
}

// Close implements sdk.Source.
func (s *source) Close() error {
	var errs []error
	if s.tail != nil {
		errs = append(errs, s.tail.root.Close())
	}
	if s.file != nil {
		errs = append(errs, s.file.Close())
	}
	return errors.Join(errs...)
}
