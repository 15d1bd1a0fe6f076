// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"github.com/nervix-go/nervix/plugins/sdk"
)

// sink appends one line a payload. size is what is known to be whole and on disk.
type sink struct {
	file *os.File
	size int64
}

// Open finds the end of the last whole line: a writer that was killed may have left a part of one.
func (s *sink) Open(_ context.Context, r sdk.SinkRequest) error {
	f, _, err := openBelow(r.Client, r.Options, r.Environment, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	s.file = f
	text, err := io.ReadAll(f) // short, for an example: connectors/file searches backwards
	if err != nil {
		return err
	}
	s.size = int64(bytes.LastIndexByte(text, '\n') + 1)
	return f.Truncate(s.size)
}

// Publish writes everything, makes it durable, and only then says delivered. Otherwise nothing of it stays and all of it comes again.
func (s *sink) Publish(_ context.Context, p sdk.Payloads, a *sdk.Answers) error {
	var text []byte
	for i := range p.Len() {
		text = append(append(text, p.Payload(i)...), '\n')
	}
	_, err := s.file.WriteAt(text, s.size)
	if err == nil {
		err = s.file.Sync()
	}
	if err != nil {
		return errors.Join(err, s.file.Truncate(s.size))
	}
	s.size += int64(len(text))
	a.AllDelivered(p)
	return nil
}

// Close is called once, also after an Open that failed.
func (s *sink) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
