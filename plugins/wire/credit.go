// SPDX-License-Identifier: Apache-2.0

package wire

// Credit is what one sender of batches may still send on a channel. Sender and receiver keep one each and count alike. The last batch
// may overdraw Bytes; nothing may overdraw Batches.
type Credit struct {
	Batches int64
	Bytes   int64
}

// Ready says whether a batch may be sent.
func (c Credit) Ready() bool { return c.Batches > 0 && c.Bytes > 0 }

// Take spends one batch; false is a violation of the sender.
func (c *Credit) Take(bytes int64) bool {
	if !c.Ready() {
		return false
	}
	c.Batches--
	c.Bytes -= bytes
	return true
}

// Grant adds what the receiver took up.
func (c *Credit) Grant(batches, bytes int64) {
	c.Batches += batches
	c.Bytes += bytes
}
