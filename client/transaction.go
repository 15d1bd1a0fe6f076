// SPDX-License-Identifier: Apache-2.0

package client

import "github.com/nervix-go/nervix/host/wire"

// setTransaction notes which transaction the session holds open after an outcome.
func (c *Client) setTransaction(s *session, t wire.Transaction) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.current != s {
		return
	}
	c.mu.transaction = ""
	if t.State == wire.TransactionOpen {
		c.mu.transaction = t.Reference
	}
}

// holdsTransaction says whether a session holds an open transaction.
func (c *Client) holdsTransaction(s *session) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.current == s && c.mu.transaction != ""
}

func (c *Client) forgetTransaction() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.transaction = ""
}

// transactionLost says, once, that the session which held an open transaction is over.
func (c *Client) transactionLost() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.transaction == "" || !c.mu.current.lostAlready() {
		return false
	}
	c.mu.transaction = ""
	return true
}
