// SPDX-License-Identifier: Apache-2.0

// Package transport carries client sessions over QUIC (docs/formats/session.md): one connection is one session, its first bidirectional
// stream is the ordered lane and its second the control lane. It greets, authenticates before anything else is read, delimits and
// verifies frames, and ends sessions with a typed reason. What requests mean is the business of host/session/lanes and of the handler
// that the opener supplies.
//
// Uploads. When Config.Uploads is there, a client of protocol 2 may open up to MaxUploads further bidirectional streams at once, each for
// one upload. The transport hands such a stream to Uploads.Upload, which reads and writes length-prefixed frames of its own kind:
//
//	client: UploadOpen, UploadChunk..., UploadEnd, end of stream     wire.ReadFrame(stream, wire.UploadFrameLimit), wire.DecodeUploadClient
//	server: UploadAccepted once, UploadResult, end of stream         wire.EncodeUploadServer, wire.AppendFrame
//
// A client finds the feature FeatureUploads in HelloReply before it opens one.
//
// Goroutines of a session: one owner, one reader and one writer for each lane, one for each upload, and those of lanes.Session. The owner starts and awaits
// them all; Server awaits the owners.
package transport
