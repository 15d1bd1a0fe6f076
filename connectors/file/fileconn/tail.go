// SPDX-License-Identifier: Apache-2.0

package fileconn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nervix-go/nervix/host/kernel/vtime"
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
	root *os.Root
	name string
	now  func() vtime.Mono
	wait func(context.Context, time.Duration) error

	// renamed says that the path named another file at the last look; since when, or since it grew last, is quiet.
	renamed bool
	quiet   vtime.Mono
}

// fate is what one look at a file that was read to its end says.
type fate uint8

const (
	unchanged fate = iota
	grown
	shorter
	complete // renamed, and nobody writes it any more
)

// look tells what has become of the file, of which readTo bytes were read.
func (t *tail) look(f *os.File, readTo int64) (fate, error) {
	mine, err := f.Stat()
	if err != nil {
		return unchanged, err
	}
	there, err := t.root.Stat(t.name)
	switch {
	case mine.Size() < readTo:
		return shorter, nil
	case mine.Size() > readTo:
		t.quiet = t.now()
		return grown, nil
	case err != nil || os.SameFile(mine, there): // a path that is missing is between two names
		t.renamed = false
		return unchanged, nil
	case !t.renamed:
		t.renamed, t.quiet = true, t.now()
	}
	if !unwritten(f) && t.now().Sub(t.quiet) < lateFor {
		return unchanged, nil
	}
	// The writer may have appended between the first look and the end of its writing.
	if mine, err = f.Stat(); err != nil || mine.Size() != readTo {
		t.quiet = t.now()
		return unchanged, err // the next look tells
	}
	return complete, nil
}

// await waits at the end of a followed file until there is a row in b, the file is finished (io.EOF) or ctx ends.
func (s *source) await(ctx context.Context, b *sdk.Batch) error {
	for {
		what, err := s.tail.look(s.file, s.lines.readTo())
		if err != nil {
			return fmt.Errorf("%s: %w", s.path, err)
		}
		switch what {
		case grown:
			s.lines.tail = true
			s.lines.again()
			if err := s.fill(b); !errors.Is(err, io.EOF) || b.Rows() > 0 {
				return notEnd(err)
			}
			continue
		case shorter:
			return io.EOF
		case complete:
			s.lines.tail = false // what is left has no end and will get none
			s.lines.again()
			return s.fill(b)
		}
		if err := s.tail.wait(ctx, pollEvery); err != nil {
			return err
		}
	}
}

func notEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
