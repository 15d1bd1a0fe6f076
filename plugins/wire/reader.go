// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"io"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// reader fills buffers from the connection. On a socket it reads a body and whatever follows it (the next header, short frames) with
// one readv, so that a stream of batches costs one system call each.
type reader struct {
	c   net.Conn
	raw syscall.RawConn // nil when c is no socket

	ahead    [4096]byte
	from, to int
	iov      [2][]byte
}

func newReader(c net.Conn) *reader {
	r := &reader{c: c}
	if s, ok := c.(*net.UnixConn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			r.raw = raw
		}
	}
	return r
}

// header lends the next header; it is valid until the next call.
func (r *reader) header() ([]byte, error) {
	if r.to-r.from < HeaderBytes {
		copy(r.ahead[:], r.ahead[r.from:r.to])
		r.to -= r.from
		r.from = 0
		for r.to < HeaderBytes {
			n, err := r.c.Read(r.ahead[r.to:])
			if r.to += n; r.to >= HeaderBytes {
				break
			}
			if err != nil {
				if err == io.EOF && r.to > 0 {
					err = io.ErrUnexpectedEOF
				}
				return nil, err
			}
		}
	}
	h := r.ahead[r.from : r.from+HeaderBytes]
	r.from += HeaderBytes
	return h, nil
}

// full fills b; more allows to read beyond it into the look-ahead.
func (r *reader) full(b []byte, more bool) error {
	n := copy(b, r.ahead[r.from:r.to])
	r.from += n
	b = b[n:]
	if len(b) > 0 {
		r.from, r.to = 0, 0
	}
	for len(b) > 0 {
		got, err := r.read(b, more)
		if got > len(b) {
			r.to = got - len(b)
			got = len(b)
		}
		b = b[got:]
		if len(b) > 0 && err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

func (r *reader) read(b []byte, more bool) (int, error) {
	if r.raw == nil || !more {
		return r.c.Read(b)
	}
	r.iov = [2][]byte{b, r.ahead[:]}
	var n int
	var err error
	if rawErr := r.raw.Read(func(fd uintptr) bool {
		for {
			n, err = unix.Readv(int(fd), r.iov[:])
			if err != unix.EINTR {
				return err != unix.EAGAIN
			}
		}
	}); rawErr != nil {
		return 0, rawErr
	}
	if err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
