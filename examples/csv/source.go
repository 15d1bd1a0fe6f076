// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/nervix-go/nervix/plugins/sdk"
)

// source reads one CSV file. Each row becomes a JSON object of strings, by the names of the header; an empty cell becomes no field.
type source struct {
	file   *os.File
	header []string
	rows   *rows
}

// rows reads records from an offset on. csv counts lines and bytes from where it began, so the beginning is kept.
type rows struct {
	csv      *csv.Reader
	from     int64 // offset of the first byte
	fromLine int64 // line of the first byte
}

func (s *source) rowsAt(offset, line int64) *rows {
	r := csv.NewReader(io.NewSectionReader(s.file, offset, math.MaxInt64-offset))
	r.FieldsPerRecord = -1 // judged here, so that a row of the wrong width is a row and no end
	return &rows{csv: r, from: offset, fromLine: line}
}

// next reads a record and says where it is. The error of a record that cannot be read is a *csv.ParseError; the rows after it go on.
func (r *rows) next() ([]string, place, error) {
	p := place{start: r.from + r.csv.InputOffset()}
	cells, err := r.csv.Read()
	p.end = r.from + r.csv.InputOffset()
	var parse *csv.ParseError
	switch {
	case errors.As(err, &parse):
		p.line = r.fromLine + int64(parse.StartLine) - 1
	case err == nil:
		line, _ := r.csv.FieldPos(0)
		p.line = r.fromLine + int64(line) - 1
	}
	return cells, p, err
}

// Open reads the header and goes to the row after the position.
func (s *source) Open(_ context.Context, r sdk.SourceRequest) (sdk.SourceOpened, error) {
	var none sdk.SourceOpened
	f, abs, err := openBelow(r.Client, r.Options, r.Environment, os.O_RDONLY)
	if err != nil {
		return none, err
	}
	s.file = f
	first := s.rowsAt(0, 1)
	header, at, err := first.next()
	if err != nil {
		return none, sdk.Definitive(fmt.Errorf("%s has no readable header: %w", abs, err))
	}
	s.header = header

	// The same header is taken for the same file; a stricter connector would look at more.
	sum := sha256.Sum256([]byte(strings.Join(header, "\x00")))
	opened := sdk.SourceOpened{Identity: sum[:], Constants: map[string]string{"path": abs}}
	after := place{end: at.end, line: 1}
	if len(r.Identity) > 0 {
		before, ok := parsePlace(r.Position)
		if ok && string(r.Identity) == string(opened.Identity) && before.end >= at.end {
			after = before
		} else {
			opened.Restarted, opened.Detail = true, abs+": another header than before; reading begins at the first row"
		}
	}
	// A record may hold line ends, so the line after it is counted and not guessed.
	s.rows = s.rowsAt(after.end, after.line+1)
	if after.start > 0 {
		s.rows.fromLine = after.line + int64(s.lineEnds(after.start, after.end))
	}
	return opened, nil
}

// lineEnds counts the line ends between two offsets.
func (s *source) lineEnds(start, end int64) int {
	b := make([]byte, end-start)
	n, _ := s.file.ReadAt(b, start)
	return strings.Count(string(b[:n]), "\n")
}

// Read fills the batch. It returns io.EOF at the end of the file: everything was delivered.
func (s *source) Read(ctx context.Context, b *sdk.Batch) error {
	for !b.Full() && ctx.Err() == nil {
		cells, at, err := s.rows.next()
		var parse *csv.ParseError
		if err != nil && !errors.As(err, &parse) {
			return err // io.EOF too
		}
		s.add(b, cells, at, err)
	}
	return nil
}

// add appends one delivery: a payload, or the reason why there is none. The reason never quotes the row; the host adds line and offset.
func (s *source) add(b *sdk.Batch, cells []string, at place, err error) {
	switch {
	case err != nil:
		b.AppendError(at.bytes(), "no CSV: quotes do not match")
	case len(cells) != len(s.header):
		b.AppendError(at.bytes(), fmt.Sprintf("%d cells; the header has %d", len(cells), len(s.header)))
	default:
		b.Append(s.object(cells), at.bytes())
	}
	b.SetInt64(metaLine, at.line)
	b.SetInt64(metaOffset, at.start)
}

func (s *source) object(cells []string) []byte {
	o := make(map[string]string, len(cells))
	for i, name := range s.header {
		if cells[i] != "" {
			o[name] = cells[i]
		}
	}
	b, _ := json.Marshal(o) // texts cannot fail
	return b
}

// Reject reads the row at a position again: the same payload, position and metadata as the first time.
func (s *source) Reject(_ context.Context, position []byte, b *sdk.Batch) error {
	p, ok := parsePlace(position)
	if !ok {
		return errors.New("the rejected position is not one of this connector")
	}
	cells, at, err := s.rowsAt(p.start, p.line).next()
	var parse *csv.ParseError
	if err != nil && !errors.As(err, &parse) {
		return err
	}
	if at.end != p.end {
		return errors.New("the file was changed: the row at this position has another length")
	}
	s.add(b, cells, p, err)
	return nil
}

// Close is called once, also after an Open that failed.
func (s *source) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
