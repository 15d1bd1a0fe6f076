// SPDX-License-Identifier: Apache-2.0

package ast

import (
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// CreateEmitter is `CREATE [ATTACHED|DETACHED] EMITTER name inputs TO sink construct flush policies` (nspl 18.1).
type CreateEmitter struct {
	Create
	Attachment Attachment
	Inputs     Inputs
	Sink       Sink
	Construct  Construct
	Flush      Flush
	OnError    MessagePolicy
	OnGeneral  GeneralPolicy
}

// Sink is the body of a TO clause of an emitter: one file per kind of sink.
type Sink interface {
	Where() fault.Span
	// SinkKind is the first word of the body, for example FILE; it is also the client type the sink needs.
	SinkKind() ClientType
	// ClientName is the client the sink uses.
	ClientName() Ident
	// Encoder is the codec of ENCODE USING, nil for sinks without one.
	Encoder() *Ident
	sink()
}

// DefKind is KindEmitter.
func (*CreateEmitter) DefKind() ident.Kind { return ident.KindEmitter }

// References names the input relays, the client, the codec and the error relay.
func (c *CreateEmitter) References() []Reference {
	refs := append(c.Inputs.references(), refer(ident.KindClient, c.Sink.ClientName()))
	if codec := c.Sink.Encoder(); codec != nil {
		refs = append(refs, refer(ident.KindCodec, *codec))
	}
	return append(refs, c.OnError.references()...)
}
