// SPDX-License-Identifier: Apache-2.0

// Package client speaks to a Nervix node: it executes commands, lists domains and asks for a node's state, over one QUIC session that is
// made again when it is lost.
//
//	c, err := client.Dial(ctx, client.Config{Server: "nervix://127.0.0.1:47391", CAPEM: ca, User: "admin", Password: secret})
//	outcome, err := c.Execute(ctx, client.Command{Domain: "weather", Text: "SHOW INGESTORS"})
//
// A command has an execution reference from before it is sent until its result is known. When a session is lost, or the server says that
// it does not know yet, the same command is sent again under the same reference, so that it takes effect once. An error says whether the
// command can have had an effect: it may after ErrUncertain, it did run after ErrReplyTooLarge, and after no other.
//
// A client can follow the clocks of domains over all its sessions:
//
//	now, err := c.AttachDomainClock(ctx, "history")
//	for {
//		event, err := c.NextClockEvent(ctx) // state, tick, interrupted, refused, ended
//		known, follows := c.DomainClock("history")
//		logical, err := known.At(utc)       // and Wait, Window, Admits: the server's own arithmetic
//	}
//
// A lost session interrupts its clocks, and the next session attaches them again before anything else uses it. What nobody reads is coalesced, so
// that a slow reader holds nothing up. The package reads no clock: observations of UTC are arguments.
package client
