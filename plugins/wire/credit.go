// SPDX-License-Identifier: Apache-2.0

package wire

import "encoding/binary"

// Credit is what one sender of batches may still send on a channel. Sender and receiver keep one each and count alike. The last batch
// may overdraw Bytes; nothing may overdraw Batches or Rows. Rows counts deliveries beyond the durable position; rows sent again after a
// rejection take none of it.
type Credit struct {
	Batches int64
	Bytes   int64
	Rows    int64
}

// Ready says whether a batch of new rows may be sent.
func (c Credit) Ready() bool { return c.ReadyAgain() && c.Rows > 0 }

// ReadyAgain says whether a batch of rows that were sent before may be sent.
func (c Credit) ReadyAgain() bool { return c.Batches > 0 && c.Bytes > 0 }

// Take spends one batch; rows is 0 for rows that are sent again. False is a violation of the sender.
func (c *Credit) Take(bytes, rows int64) bool {
	if !c.ReadyAgain() || rows > c.Rows {
		return false
	}
	c.Batches--
	c.Bytes -= bytes
	c.Rows -= rows
	return true
}

// Grant adds what the receiver took up.
func (c *Credit) Grant(g Credit) {
	c.Batches += g.Batches
	c.Bytes += g.Bytes
	c.Rows += g.Rows
}

// GrantFrame is the header and body that tell a grant.
func GrantFrame(channel uint32, g Credit) (Header, []byte) {
	return Header{Kind: KindGrant, Channel: channel, Count: uint32(g.Batches), Arg: uint64(g.Bytes)}, binary.LittleEndian.AppendUint64(nil, uint64(g.Rows))
}

// ParseGrant reads it back; a damaged one grants nothing.
func ParseGrant(h Header, body []byte) Credit {
	if len(body) != 8 {
		return Credit{}
	}
	return Credit{Batches: int64(h.Count), Bytes: int64(h.Arg), Rows: int64(binary.LittleEndian.Uint64(body))}
}
