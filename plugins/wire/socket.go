// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// SocketBytes is the send buffer asked of the kernel (which may grant less): room for a few batches, so that neither side has to be
// woken for each.
const SocketBytes = 1 << 20

// Pair makes a connected pair of stream sockets. The second is for a child process; both are closed on exec and the caller owns them.
func Pair() (host net.Conn, child *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	child = os.NewFile(uintptr(fds[1]), "nervix-data")
	host, err = FromFile(os.NewFile(uintptr(fds[0]), "nervix-data"))
	if err != nil {
		_ = child.Close()
		return nil, nil, err
	}
	return host, child, nil
}

// FromFile turns an inherited socket into a connection and closes the file.
func FromFile(f *os.File) (net.Conn, error) {
	defer f.Close()
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	if u, ok := c.(*net.UnixConn); ok {
		_ = u.SetWriteBuffer(SocketBytes) // smaller is slower, not wrong
		_ = u.SetReadBuffer(SocketBytes)
	}
	return c, nil
}
