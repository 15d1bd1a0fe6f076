// SPDX-License-Identifier: Apache-2.0

package ast

// Quiesce is what a source does while it is held (nspl 14.3).
type Quiesce uint8

// QuiesceSuspend takes nothing; the data waits at the source.
const (
	QuiesceSuspend Quiesce = iota
)

// String is the keyword.
func (Quiesce) String() string { return "SUSPEND" }

// FileSource is `FILE client PATH path [FOLLOW] MODE ACK PARALLEL MAX n ACK TIMEOUT .. RETRY POLICY .. ON QUIESCE SUSPEND` (nspl 14.6).
type FileSource struct {
	Node
	Client Ident
	Path   Text
	// Follow waits for the file to grow and goes on with its successor; without it the source ends at the end of the file.
	Follow bool
	// MaxParallel bounds the deliveries read beyond the durable position, at least 1.
	MaxParallel Uint
	Ack         AckTail
	Quiesce     Quiesce
}

// SourceKind is ClientFile.
func (*FileSource) SourceKind() ClientType { return ClientFile }

// ClientName is the client of type FILE.
func (s *FileSource) ClientName() Ident { return s.Client }

func (*FileSource) source() {}
