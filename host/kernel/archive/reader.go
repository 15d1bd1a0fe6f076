// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Reader takes an archive apart as a stream, and trusts nothing of it: what the Writer does not write is refused with a *Reason that
// names entry and byte. It needs memory for one path, whatever the archive says. Not for concurrent use.
type Reader struct {
	from io.Reader
	walk walk
	at   uint64 // bytes read
	// entries were begun; left is unread content of the present one, pad the zeros after it.
	entries   uint64
	left, pad uint64
	header    [block]byte
	err       error
}

// NewReader reads an archive that ends where from ends.
func NewReader(from io.Reader, limits Limits) *Reader {
	return &Reader{from: from, walk: walk{limits: limits}}
}

// Next skips what is unread of the present file and gives the next entry. io.EOF is the good end of the archive: nothing follows it. An
// error of the underlying reader comes as it is.
func (r *Reader) Next() (Entry, error) {
	if r.err == nil {
		_, r.err = io.Copy(io.Discard, contentReader{r})
	}
	if r.err == nil {
		r.err = r.zeros(r.pad)
	}
	if r.err != nil {
		return Entry{}, r.err
	}
	r.pad = 0
	e, err := r.next()
	if err != nil {
		r.err = err
		return Entry{}, err
	}
	r.left, r.pad = e.Size, padding(e.Size)
	return e, nil
}

// contentReader hides every method but Read from io.Copy.
type contentReader struct{ r *Reader }

func (c contentReader) Read(p []byte) (int, error) { return c.r.Read(p) }

// Read reads content of the present file; io.EOF is its end.
func (r *Reader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	if r.left == 0 {
		return 0, io.EOF
	}
	if uint64(len(p)) > r.left {
		p = p[:r.left]
	}
	n, err := r.from.Read(p)
	r.at += uint64(n)
	r.left -= uint64(n)
	switch {
	case err == nil || errors.Is(err, io.EOF) && r.left == 0:
		return n, nil
	case errors.Is(err, io.EOF):
		err = r.refuse("the archive ends inside the file %s", Quote(r.walk.last))
	}
	r.err = err
	return n, err
}

// Offset is how many bytes of the archive were read.
func (r *Reader) Offset() uint64 { return r.at }

// Totals count the entries so far.
func (r *Reader) Totals() Totals { return r.walk.totals }

// next reads the headers of one entry.
func (r *Reader) next() (Entry, error) {
	r.entries++
	if err := r.block(); err != nil {
		return Entry{}, err
	}
	if r.header == [block]byte{} {
		return Entry{}, r.end()
	}
	kind, size, err := r.judge()
	if err != nil {
		return Entry{}, err
	}
	path := text(r.header[nameAt:nameEnd])
	var long bool
	if kind == typeExtended {
		long = true
		if path, err = r.extended(size); err != nil {
			return Entry{}, err
		}
		if err := r.block(); err != nil {
			return Entry{}, err
		}
		if kind, size, err = r.judge(); err != nil {
			return Entry{}, err
		}
		if kind == typeExtended {
			return Entry{}, r.refuse("two extended headers follow each other")
		}
	}
	return r.entry(path, kind == typeDir, size, long)
}

// entry checks what the headers say, last that they say it in the one way the format has.
func (r *Reader) entry(path string, dir bool, size uint64, long bool) (Entry, error) {
	e := Entry{Path: path, Dir: dir, Size: size}
	if cut, slash := strings.CutSuffix(path, "/"); dir {
		if !slash {
			return Entry{}, r.refuse("the path %s of a directory has no / at its end", Quote(path))
		}
		e.Path = cut
	}
	if why := r.walk.take(e); why != nil {
		return Entry{}, &Reason{text: r.refuse("%s", why.text).Error(), Limit: why.Limit}
	}
	if extended(e) != long {
		return Entry{}, r.refuse("the path %s stands in the wrong kind of header", Quote(e.Path))
	}
	want := AppendHeader(nil, e)
	if at := r.differs(want[len(want)-block:]); at >= 0 {
		return Entry{}, r.refuse("the header of %s has another %s than the format allows", Quote(e.Path), fieldAt(at))
	}
	return e, nil
}

// judge checks one header as far as it can be without its path.
func (r *Reader) judge() (kind byte, size uint64, err error) {
	h := &r.header
	if sum, ok := number(h[sumAt : sumEnd-1]); !ok || sum != checksum(h) {
		return 0, 0, r.refuse("this is no tar header: its checksum does not fit")
	}
	if string(h[magicAt:magicEnd]) != magic {
		return 0, 0, r.refuse("the header is not that of a POSIX tar")
	}
	if kind = h[typeAt]; kind != typeFile && kind != typeDir && kind != typeExtended {
		return 0, 0, r.refuse("the entry %s is %s; only directories and regular files are allowed", Quote(text(h[nameAt:nameEnd])), kindWords(kind))
	}
	size, ok := number(h[sizeAt:sizeEnd])
	if !ok {
		return 0, 0, r.refuse("the size of the entry is not eleven octal digits")
	}
	return kind, size, nil
}

// extended reads the path that has a header of its own.
func (r *Reader) extended(size uint64) (string, error) {
	want := appendBlock(nil, extendedName, typeExtended, size)
	if at := r.differs(want); at >= 0 {
		return "", r.refuse("an extended header has another %s than the format allows", fieldAt(at))
	}
	if size > uint64(len("1234 path=/\n")+MaxPath) {
		return "", r.refuse("an extended header of %d bytes is longer than any path", size)
	}
	content := make([]byte, padded(size))
	if err := r.fill(content); err != nil {
		return "", err
	}
	if strings.Trim(string(content[size:]), "\x00") != "" {
		return "", r.refuse("an extended header is not filled up with zeros")
	}
	path, ok := strings.CutPrefix(string(content[:size]), strconv.FormatUint(size, 10)+" path=")
	if ok {
		path, ok = strings.CutSuffix(path, "\n")
	}
	if !ok || path == "" {
		return "", r.refuse("an extended header holds something else than one path")
	}
	return path, nil
}

// end reads the second empty block and sees that nothing follows.
func (r *Reader) end() error {
	if err := r.block(); err != nil {
		return err
	}
	if r.header != [block]byte{} {
		return r.refuse("an empty block stands between two entries")
	}
	if r.walk.totals.Files == 0 {
		return r.refuse("the archive holds no file")
	}
	var one [1]byte
	n, err := io.ReadFull(r.from, one[:])
	if n > 0 {
		return r.refuse("bytes follow the end of the archive")
	}
	return err
}

// zeros reads the fill of the present file.
func (r *Reader) zeros(n uint64) error {
	var fill [block]byte
	if err := r.fill(fill[:n]); err != nil {
		return err
	}
	if fill != [block]byte{} {
		return r.refuse("the file %s is not filled up with zeros", Quote(r.walk.last))
	}
	return nil
}

func (r *Reader) block() error { return r.fill(r.header[:]) }

// fill reads exactly len(p) bytes.
func (r *Reader) fill(p []byte) error {
	n, err := io.ReadFull(r.from, p)
	r.at += uint64(n)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return r.refuse("the archive ends before its end mark")
	}
	return err
}

// refuse says what is wrong and where.
func (r *Reader) refuse(format string, args ...any) error {
	return reason("entry %d, byte %d: %s", r.entries, r.at, fmt.Sprintf(format, args...))
}

// differs gives the first byte in which the header differs from the one it must be; -1 if none. Its checksum, which fits, may be another
// only when something else is.
func (r *Reader) differs(want []byte) int {
	for i := range want {
		if want[i] != r.header[i] && (i < sumAt || i >= sumEnd-1) {
			return i
		}
	}
	return -1
}

// kindWords names the types of other tars.
func kindWords(kind byte) string {
	switch kind {
	case '1':
		return "a hard link"
	case '2':
		return "a symbolic link"
	case '3':
		return "a character device"
	case '4':
		return "a block device"
	case '6':
		return "a named pipe"
	case 'g':
		return "a header for all entries"
	case 'L', 'K':
		return "a long name in the form of GNU"
	case 'S':
		return "a sparse file"
	}
	return fmt.Sprintf("of the unknown type %q", kind)
}

// fieldAt names the field of a header that holds a byte.
func fieldAt(at int) string {
	for _, f := range []struct {
		end  int
		name string
	}{
		{nameEnd, "name"}, {uidAt, "mode"}, {gidAt, "owner"}, {sizeAt, "group"}, {sizeEnd, "size"}, {sumAt, "time"}, {sumEnd, "checksum"},
		{typeAt + 1, "type"}, {magicAt, "link name"}, {magicEnd, "magic"}, {majorAt, "owner or group name"}, {minorAt + 8, "device number"},
	} {
		if at < f.end {
			return f.name
		}
	}
	return "prefix or fill"
}
