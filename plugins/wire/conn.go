// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// ErrViolation marks what the other side must never send. The connection is of no further use.
var ErrViolation = errors.New("data protocol violated")

func violation(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrViolation, fmt.Sprintf(format, args...))
}

// DefaultMaxBody is the largest body a side accepts unless configured otherwise. The longest payload (32 MiB) fits with its columns.
const DefaultMaxBody = 64 << 20

// Conn frames one stream connection. Write is safe for concurrent use; Read belongs to one goroutine.
type Conn struct {
	c       net.Conn
	maxBody int
	pool    *pool
	in      *reader

	out struct {
		sync.Mutex
		head  [HeaderBytes]byte
		parts net.Buffers
	}
}

// New wraps c and takes it over. maxBody bounds what Read accepts.
func New(c net.Conn, maxBody int) *Conn {
	conn := &Conn{c: c, maxBody: maxBody, pool: newPool()}
	conn.in = newReader(c)
	return conn
}

// Close ends the connection; blocked calls of Read and Write return with an error.
func (c *Conn) Close() error { return c.c.Close() }

// Write sends one frame; h.Length is filled in. Frames of concurrent writers do not mix.
func (c *Conn) Write(h Header, parts ...[]byte) error {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	h.Length = uint32(size)
	c.out.Lock()
	defer c.out.Unlock()
	h.put(c.out.head[:])
	bufs := append(c.out.parts[:0], c.out.head[:])
	bufs = append(bufs, parts...)
	c.out.parts = bufs // WriteTo moves its receiver along; keep the backing array
	_, err := bufs.WriteTo(c.c)
	clear(c.out.parts)
	return err
}

// Read takes the next frame. accept sees the header before the body is allocated or read and may refuse it; its error is returned.
// The body is nil when it is empty; otherwise the caller owns one reference.
func (c *Conn) Read(accept func(Header) error) (Header, *memory.Buffer, error) {
	head, err := c.in.header()
	if err != nil {
		return Header{}, nil, err
	}
	h, ok := parseHeader(head)
	if !ok {
		return Header{}, nil, violation("a frame of kind %d with reserved bytes %d %d", head[4], head[6], head[7])
	}
	if int64(h.Length) > int64(c.maxBody) {
		return h, nil, violation("a frame of %d bytes, the limit is %d", h.Length, c.maxBody)
	}
	if err := accept(h); err != nil {
		return h, nil, err
	}
	if h.Length == 0 {
		return h, nil, nil
	}
	body, err := c.body(int(h.Length))
	if err != nil {
		return h, nil, err
	}
	return h, memory.NewBufferWithAllocator(body, c.pool), nil
}

// body reads n bytes. A long body grows as its bytes arrive, so that a header alone cannot claim memory.
func (c *Conn) body(n int) ([]byte, error) {
	if n <= 1<<largestClass {
		b := c.pool.take(n)
		if err := c.in.full(b, true); err != nil {
			c.pool.Free(b)
			return nil, err
		}
		return b, nil
	}
	b := make([]byte, 1<<largestClass)
	for at := 0; ; {
		if err := c.in.full(b[at:], len(b) == n); err != nil {
			return nil, err
		}
		if len(b) == n {
			return b, nil
		}
		at = len(b)
		grown := make([]byte, min(n, 2*len(b)))
		copy(grown, b)
		b = grown
	}
}

// IsEnd says whether err is the orderly or forced end of the connection rather than a violation.
func IsEnd(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || !errors.Is(err, ErrViolation)
}
