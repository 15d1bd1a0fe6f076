// SPDX-License-Identifier: Apache-2.0

// Package emitter is the runtime node that constructs, encodes and publishes the rows of its relays to a sink, and settles them when the
// sink has confirmed them (nspl 18, 19.3).
//
// An emitter consumes its relays as a whole: all branches are one unit of work on one lane. Collected rows are encoded at once and
// wait for the flush. While an attempt is under way, or a retry waits, nothing more is taken from the relays and what is held is
// reported alive. The host owns the encoded payloads: they are offered again byte for byte until every one of them is answered, over restarts of
// the connector (P-041).
package emitter
