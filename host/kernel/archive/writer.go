// SPDX-License-Identifier: Apache-2.0

package archive

import "io"

// Writer writes an archive as a stream. Entries come in the order of Compare, each directory before what is in it. Not for concurrent use.
type Writer struct {
	to   io.Writer
	walk walk
	// left is what the content of the present file still lacks, pad the zeros after it.
	left, pad uint64
	buffer    []byte
	err       error
}

// NewWriter makes a writer without limits: those are the receiver's.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to, walk: walk{limits: unlimited}} }

// Begin writes the header of the next entry. The content of a file follows with Write.
func (w *Writer) Begin(e Entry) error {
	if err := w.finish(); err != nil {
		return err
	}
	if why := w.walk.take(e); why != nil {
		w.err = why
		return why
	}
	w.buffer = AppendHeader(w.buffer[:0], e)
	w.left, w.pad = e.Size, padding(e.Size)
	return w.put(w.buffer)
}

// Write writes content of the present file. More than it was announced with is an error, and nothing of it is written.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	if uint64(len(p)) > w.left {
		w.err = reason("the file %s has more bytes than it was announced with", Quote(w.walk.last))
		return 0, w.err
	}
	n, err := w.to.Write(p)
	w.left -= uint64(n)
	w.err = err
	return n, err
}

// Close ends the archive; it does not close what it writes to.
func (w *Writer) Close() error {
	if err := w.finish(); err != nil {
		return err
	}
	if err := w.put(make([]byte, EndSpace)); err != nil {
		return err
	}
	w.err = reason("the archive is closed")
	return nil
}

// finish fills the present file up to a whole block.
func (w *Writer) finish() error {
	if w.err == nil && w.left > 0 {
		w.err = reason("the file %s lacks %d bytes of those it was announced with", Quote(w.walk.last), w.left)
	}
	if w.err == nil && w.pad > 0 {
		w.err = w.put(make([]byte, w.pad))
		w.pad = 0
	}
	return w.err
}

func (w *Writer) put(p []byte) error {
	if w.err == nil {
		_, w.err = w.to.Write(p)
	}
	return w.err
}
