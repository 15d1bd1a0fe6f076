// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"strings"
	"time"

	"github.com/nervix-go/nervix/host/model"
)

// EmitterStatus is the state of a sink (nspl 18.2).
type EmitterStatus string

// The states. Waiting waits for a pooled connection; Error has a detail.
const (
	EmitterOK      EmitterStatus = "OK"
	EmitterWaiting EmitterStatus = "WAITING"
	EmitterError   EmitterStatus = "ERROR"
)

// EmitterObservation is what the owner of an emitter knows. An empty Status means that it does not run.
type EmitterObservation struct {
	Status EmitterStatus
	// Detail explains an Error, TransientError why nothing is published now; neither holds a payload value.
	Detail         string
	TransientError string
	// ReconnectBackoff is the backoff in force, ReconnectWait what is left of it; 0 when none is under way.
	ReconnectBackoff time.Duration
	ReconnectWait    time.Duration
	Received         []EdgeObservation
	// Published counts the payloads the sink confirmed.
	Published uint64
}

// Emitter describes an emitter.
func Emitter(plan *model.Emitter, at Placement, seen EmitterObservation) Inspection {
	def := plan.Definition
	lines := append(head(plan.Ref, at),
		pair{"from", from(def.Inputs)},
		pair{"attachment", def.Attachment.String()},
		pair{"codec", string(plan.Codec.Ref.Name)},
		pair{"sink", strings.ToUpper(plan.Sink.Kind)},
		pair{"client", string(plan.Client.Ref.Name)},
		pair{"options", options(plan.Sink.Options)},
		pair{"construction", construction(def.Construct)},
		pair{"batch", nil},
		pair{"flush", flushWord(def.Flush)},
		pair{"max batch size", batchSize(def.Flush)},
		pair{"publishing mode", "ACK"},
		pair{"status", optional(string(seen.Status))},
		pair{"detail", optional(seen.Detail)},
		pair{"transient error", optional(seen.TransientError)},
		pair{"reconnect backoff", span(seen.ReconnectBackoff)},
		pair{"reconnect wait", span(seen.ReconnectWait)},
		pair{"published", seen.Published},
	)
	return Inspection{append(lines, pair{"metrics", section{{"incoming_edges", edges("received", seen.Received)}}})}
}
