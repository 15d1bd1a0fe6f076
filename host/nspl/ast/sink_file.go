// SPDX-License-Identifier: Apache-2.0

package ast

// FileSink is `FILE client PATH path MODE ACK RETRY POLICY .. ENCODE USING codec` (nspl 14.6).
type FileSink struct {
	Node
	Client Ident
	Path   Text
	Retry  Retry
	Encode Ident
}

// SinkKind is ClientFile.
func (*FileSink) SinkKind() ClientType { return ClientFile }

// ClientName is the client of type FILE.
func (s *FileSink) ClientName() Ident { return s.Client }

// Encoder is the codec of the payloads.
func (s *FileSink) Encoder() *Ident { return &s.Encode }

func (*FileSink) sink() {}
