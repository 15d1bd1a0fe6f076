// SPDX-License-Identifier: Apache-2.0

// Package wire is the data path between the host and a connector process: frames over one stream socket that all sources and sinks of
// the process share. Control calls (configure, open, close, reject, ping) go over gRPC, see plugins/proto/v1; everything that must keep
// its order with rows goes here. docs/formats/plugin.md describes the bytes.
//
// A frame is a header of 24 bytes and a body. A channel is one epoch of one source or sink; numbers are never used twice in one
// process. The receiver of batches hands out credit in batches and bytes; a sender may send while both are positive, so the last batch
// may overdraw the bytes. Overdrawing batches, a body above the limit, an unknown channel or kind is a violation: the connection is cut.
//
// Buffers: a received body lives in a pooled buffer; the reference Read returns belongs to the caller. Parts given to Write are read
// until it returns.
package wire
