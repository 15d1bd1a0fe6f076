// SPDX-License-Identifier: Apache-2.0

package fileconn

import (
	"context"
	"fmt"
	"os"
)

// stay makes sure that the path still names the file that is written. People rotate, remove and empty files under a writer; lines that go on into a
// file that nobody finds would be confirmed and lost. A file that is gone from its path is closed and the path opened anew; one that was emptied
// is written from its present end.
func (s *sink) stay(ctx context.Context) error {
	if s.file == nil {
		return s.reopen(ctx)
	}
	held, err := s.file.Stat()
	if err != nil {
		return s.wrap(err)
	}
	if there, err := os.Stat(s.path); err != nil || !os.SameFile(there, held) {
		s.log.Warn("the output file was moved or removed; its path is opened anew", "path", s.path)
		if err := s.file.Close(); err != nil {
			return s.wrap(err)
		}
		return s.reopen(ctx)
	}
	if held.Size() < s.size {
		s.log.Warn("the output file was cut by somebody else; writing goes on at its present end", "path", s.path)
		return s.repair()
	}
	return nil
}

// reopen opens the path again; a file that could not be locked or mended is not written.
func (s *sink) reopen(ctx context.Context) error {
	s.file = nil
	err := s.Open(ctx, s.request)
	if err != nil && s.file != nil {
		_ = s.file.Close()
		s.file = nil
	}
	return err
}

// kept says that what was just synced can be found: the file still has a name.
func (s *sink) kept() error {
	if n, err := links(s.file); err != nil {
		return s.wrap(err)
	} else if n == 0 {
		return fmt.Errorf("%s was removed while lines were written to it", s.path)
	}
	return nil
}
