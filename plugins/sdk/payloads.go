// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/nervix-go/nervix/plugins/wire"
)

// Payloads is what a sink is to write, in order. It is valid during Publish.
type Payloads struct {
	ids     *array.Uint64
	payload *array.Binary
}

func payloadsOf(b arrow.RecordBatch) Payloads {
	ids, _ := b.Column(0).(*array.Uint64)
	payload, _ := b.Column(1).(*array.Binary)
	return Payloads{ids, payload}
}

// Len is the number of payloads.
func (p Payloads) Len() int { return p.ids.Len() }

// ID is the identity of payload i; identities ascend.
func (p Payloads) ID(i int) uint64 { return p.ids.Value(i) }

// Payload is payload i, to be read only.
func (p Payloads) Payload(i int) []byte { return p.payload.Value(i) }

// Bytes is the sum of all payloads.
func (p Payloads) Bytes() int {
	if p.Len() == 0 {
		return 0
	}
	offsets := p.payload.ValueOffsets()
	return int(offsets[p.Len()] - offsets[0])
}

// Answers collects the outcome of an attempt. Each payload is answered at most once, in order.
type Answers struct{ a wire.Answers }

// Delivered answers the payloads with the identities first..last: they are safe at the destination.
func (a *Answers) Delivered(first, last uint64) {
	a.a.List = append(a.a.List, wire.Answer{First: first, Last: last})
}

// Rejected answers payloads that the destination will never take; reason must not quote them.
func (a *Answers) Rejected(first, last uint64, reason string) {
	if reason == "" {
		reason = "rejected"
	}
	a.a.List = append(a.a.List, wire.Answer{First: first, Last: last, Rejected: reason})
}

// AllDelivered answers everything that was offered.
func (a *Answers) AllDelivered(p Payloads) {
	if n := p.Len(); n > 0 {
		a.Delivered(p.ID(0), p.ID(n-1))
	}
}

// RetryAfter asks the host to wait at least d before it offers unresolved payloads again.
func (a *Answers) RetryAfter(d time.Duration) { a.a.RetryAfter = d }
