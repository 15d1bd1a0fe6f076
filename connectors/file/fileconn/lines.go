// SPDX-License-Identifier: Apache-2.0

package fileconn

import (
	"bytes"
	"io"
)

// chunk is how much is read at once: large enough that the system call does not count, small enough for the cache.
const chunk = 256 << 10

// lines cuts a file into lines with one buffer. A line longer than limit is passed over without being kept, so memory stays below
// limit plus two chunks whatever the file holds.
type lines struct {
	f     io.ReaderAt
	limit int

	buf      []byte // buf[from:to] is unread; buf[to:] is room
	from, to int
	at       int64 // offset of buf[from] in the file
	number   int64 // of the line before
	eof      bool
	// tail says that a last line without its end is awaited rather than cut.
	tail bool
	// passing says that the line in front, which began at start, is too long and being passed over.
	passing bool
	start   int64
}

// line is one line of the file. text is valid until the next call; it is nil when the line is too long.
type line struct {
	text    []byte
	tooLong bool
	place   place
}

func newLines(f io.ReaderAt, limit int, from place) *lines {
	return &lines{f: f, limit: limit, buf: make([]byte, 2*chunk), at: from.end, number: from.line}
}

// pastItsEnd moves behind the end of a line that was read as the last one before it had an end; alone that would count as an empty line.
func pastItsEnd(f io.ReaderAt, at place) (place, error) {
	if at.end == 0 {
		return at, nil
	}
	var b [3]byte
	n, err := f.ReadAt(b[:], at.end-1)
	if err != nil && err != io.EOF {
		return at, err
	}
	if text := b[:n]; n > 0 && text[0] != newline {
		switch rest := text[1:]; {
		case bytes.HasPrefix(rest, []byte("\n")):
			at.end++
		case bytes.Equal(rest, []byte("\r\n")):
			at.end += 2
		}
	}
	return at, nil
}

var (
	bom     = []byte("\xef\xbb\xbf")
	newline = byte('\n')
)

// readTo is the offset up to which the file was read.
func (l *lines) readTo() int64 { return l.at + int64(l.to-l.from) }

// next gives the next line, empty ones too; io.EOF after the last. A last line without its end counts, unless it is awaited: then io.EOF means
// for now, and again lets next look at the file once more.
func (l *lines) next() (line, error) {
	searched := 0
	for {
		if l.passing {
			return l.passOver()
		}
		if i := bytes.IndexByte(l.buf[l.from+searched:l.to], newline); i >= 0 {
			return l.cut(searched+i, searched+i+1), nil
		}
		searched = l.to - l.from
		if searched > l.limit+len(bom)+1 {
			l.passing, l.start = true, l.at
			continue
		}
		if l.eof {
			if searched == 0 || l.tail {
				return line{}, io.EOF
			}
			return l.cut(searched, searched), nil
		}
		if err := l.fill(); err != nil {
			return line{}, err
		}
	}
}

// quick is next for the common case, a line that lies whole in the buffer and is neither empty, too long nor the first. text is nil when
// next has to look; it may be empty after a carriage return was cut off. The line's place is before and after in at and number.
func (l *lines) quick() (text []byte) {
	b := l.buf[l.from:l.to]
	i := bytes.IndexByte(b, newline)
	if i <= 0 || i > l.limit || l.at == 0 || l.passing {
		return nil
	}
	l.from += i + 1
	l.at += int64(i) + 1
	l.number++
	if b[i-1] == '\r' {
		i--
	}
	return b[:i]
}

// cut takes a line of n bytes that ends, its end of line included, after size bytes.
func (l *lines) cut(n, size int) line {
	text := l.buf[l.from : l.from+n]
	l.number++
	out := line{place: place{l.at, l.at + int64(size), l.number}}
	if l.at == 0 {
		text = bytes.TrimPrefix(text, bom)
	}
	if n := len(text); n > 0 && size > 0 && text[n-1] == '\r' && l.buf[l.from+size-1] == newline {
		text = text[:n-1]
	}
	if len(text) > l.limit {
		out.tooLong = true
	} else {
		out.text = text
	}
	l.from += size
	l.at += int64(size)
	return out
}

// again forgets that the file ended: it may have grown.
func (l *lines) again() { l.eof = false }

// passOver drops a line that is known to be too long.
func (l *lines) passOver() (line, error) {
	for {
		if i := bytes.IndexByte(l.buf[l.from:l.to], newline); i >= 0 {
			l.from += i + 1
			l.at += int64(i) + 1
			break
		}
		l.at += int64(l.to - l.from)
		l.from = l.to
		if l.eof && l.tail {
			return line{}, io.EOF
		}
		if l.eof {
			break
		}
		if err := l.fill(); err != nil {
			return line{}, err
		}
	}
	l.number++
	l.passing = false
	return line{tooLong: true, place: place{l.start, l.at, l.number}}, nil
}

// fill reads a chunk behind what is there. The buffer grows while a line within the limit needs it.
func (l *lines) fill() error {
	if l.from > 0 {
		copy(l.buf, l.buf[l.from:l.to])
		l.to -= l.from
		l.from = 0
	}
	if len(l.buf)-l.to < chunk {
		grown := make([]byte, min(2*len(l.buf), l.to+l.limit+2*chunk))
		copy(grown, l.buf[:l.to])
		l.buf = grown
	}
	n, err := l.f.ReadAt(l.buf[l.to:l.to+chunk], l.at+int64(l.to))
	l.to += n
	if err == io.EOF {
		l.eof, err = true, nil
	}
	return err
}
