// SPDX-License-Identifier: Apache-2.0

package fileconn

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/plugins/sdk"
)

// How a followed file is watched.
const (
	// pollEvery is the pause between two looks at a file that does not grow.
	pollEvery = 50 * time.Millisecond
	// lateFor is how long a renamed file must not have grown before it counts as complete although somebody may still write it.
	lateFor = 2 * time.Second
)

// tail watches a followed file: whether it grew, and whether the path still names it.
type tail struct {
	folder
	now  func() vtime.Mono
	wait func(context.Context, time.Duration) error
	// unwritten says that nobody has the file open for writing.
	unwritten func(*os.File) bool

	id    identity
	head  []byte // what the file begins with, of its first 1 KiB as much as it had
	last  int64  // end of the last line that was delivered
	safe  int64  // end of the last line that is settled and durable
	since int64  // when the file was opened, ns of UTC

	// renamed says that the path named another file at the last look; since then, or since it grew last, the file is quiet.
	renamed bool
	quiet   vtime.Mono
}

func (t *tail) begin(f *os.File, id identity, at place) error {
	t.id, t.last, t.safe, t.since = id, at.end, at.end, osclock.UTC().NS()
	return t.keepHead(f)
}

// keepHead reads how the file begins, until its first 1 KiB is known.
func (t *tail) keepHead(f *os.File) error {
	if len(t.head) == hashedBytes {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	t.head, err = headOf(f, min(info.Size(), hashedBytes))
	return err
}

// fate is what one look at a file that was read to its end says.
type fate uint8

const (
	unchanged fate = iota
	grown
	known    // grown so far that its identity can cover more of it
	shorter  // or written anew
	complete // renamed, and nobody writes it any more
)

// look tells what has become of the file, of which readTo bytes were read.
func (t *tail) look(f *os.File, readTo int64) (fate, error) {
	mine, err := f.Stat()
	if err != nil {
		return unchanged, err
	}
	if mine.Size() < readTo || !startsLike(f, t.head) {
		return shorter, nil
	}
	there, err := t.root.Stat(t.name)
	switch {
	case mine.Size() > readTo:
		t.quiet = t.now()
		return grown, t.keepHead(f)
	case t.id.hashed < hashedBytes && readTo >= hashedBytes && t.safe >= t.last: // else it would have to wait for deliveries that are under way
		return known, nil
	case errors.Is(err, fs.ErrNotExist), err == nil && os.SameFile(mine, there): // a path that is missing is between two names
		t.renamed = false
		return unchanged, nil
	case !t.renamed:
		t.renamed, t.quiet = true, t.now()
	}
	if !t.unwritten(f) && t.now().Sub(t.quiet) < lateFor {
		return unchanged, nil
	}
	// The writer may have appended between the first look and the end of its writing.
	if mine, err = f.Stat(); err != nil || mine.Size() != readTo {
		t.quiet = t.now()
		return unchanged, err // the next look tells
	}
	return complete, nil
}

// follow is Read of a followed file. It waits at the end of it; io.EOF says that the source is to be opened again: at the next file, or at this one.
func (s *source) follow(ctx context.Context, b *sdk.Batch) error {
	for {
		what, err := s.tail.look(s.file, s.lines.readTo())
		if err != nil {
			return s.named(err)
		}
		if what == shorter {
			s.seen.tell(s.path, ending{id: s.tail.id, shorter: true, head: s.tail.head, since: s.tail.since})
			return io.EOF
		}
		s.lines.tail = what != complete // what is left of a complete file has no end and will get none
		s.lines.again()
		err = s.fill(b)
		switch {
		case !errors.Is(err, io.EOF):
			return err
		case what == complete:
			s.seen.tell(s.path, ending{id: s.tail.id, size: s.lines.readTo(), last: s.tail.last})
			return io.EOF
		case b.Rows() > 0:
			return nil
		case what == known:
			return io.EOF
		case what == grown:
			continue
		}
		if err := s.tail.wait(ctx, pollEvery); err != nil {
			return err
		}
	}
}
