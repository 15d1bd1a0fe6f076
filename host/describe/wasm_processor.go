// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"strconv"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/model"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// WASMBranch is one live branch of a WASM processor, named by its fingerprint only (W-219).
type WASMBranch struct {
	// Fingerprint is empty for the unbranched instance.
	Fingerprint string
	// Generation is the lifetime of the guest state.
	Generation ident.Generation
	// Instance counts the guest instances the branch has had on this node; 0 before the first.
	Instance, Callbacks uint64
	// Fuel is what the last callback used, Memory the linear memory of the instance in bytes, 0 without an instance; Held counts the rows that the
	// guest has and has not decided.
	Fuel, Memory, Held uint64
	// Committed and Latest are revisions of saved state; 0 means that there is none. Stage is the word of W-216, or EMPTY.
	Committed, Latest uint64
	Stage             string
	// Required and Confirmed count replicas; Known is false when a restore cannot tell (W-217).
	Required, Confirmed uint64
	Known               bool
}

// WASMError is one reported failure. Text is the whole diagnostic (W-246) and holds no payload.
type WASMError struct {
	At   vtime.UTC
	Code fault.Code
	Text string
	// Module is the first half of the SHA-256 of the module file in hexadecimal digits; empty when it is not known (A01).
	Module string
	// FirstRow is the first row of the batch that was being processed, in the count of the rows that the branch took into work on its node from 1 on;
	// 0 when no batch was being processed.
	FirstRow uint64
}

// WASMRows counts rows after WHERE and FILTER: those given to guests, those a guest dropped as done, those it or a failure refused, and its message
// errors.
type WASMRows struct{ Given, Acked, Nacked, Failed uint64 }

// WASMObservation is what the owner of a WASM processor knows.
type WASMObservation struct {
	Received, Sent []EdgeObservation
	// Branches are live branches by fingerprint, at most 128; Omitted counts the others (W-220).
	Branches []WASMBranch
	Omitted  uint64
	Rows     WASMRows
	// Errors are the newest failures, newest first.
	Errors []WASMError
	// Rejected counts failed rows by class.
	Rejected map[string]uint64
	// Restarts counts instances that were made in place of a discarded one (A04).
	Restarts uint64
	// Recycled counts instances that were replaced for their memory (A07).
	Recycled uint64
}

// WASM describes a WASM processor (nspl 23.3).
func WASM(plan *model.WASM, at Placement, seen WASMObservation) Inspection {
	def := plan.Definition
	branch := branchWords(plan.Branch)
	lines := append(head(plan.Ref, at),
		pair{"from", from(def.Inputs)},
		pair{"filter", expression(def.Filter)},
		pair{"branch", branch},
		pair{"attachment", def.Attachment.String()},
		pair{"resource", string(plan.Module.Resource)},
		pair{"resource version", plan.Module.Version},
		pair{"file", plan.Module.File},
		pair{"max fuel", plan.MaxFuel},
		pair{"max memory", plan.MaxMemory},
		pair{"abi", "FlatBuffers NVWY"},
		pair{"flush", "guest-controlled"},
		pair{"rejected state policy", def.OnRejected.String()},
		pair{"global error policy", globalPolicy(def.OnGlobal)},
		pair{"state default generation", uint64(1)},
	)
	for i, r := range plan.Routes {
		lines = append(lines, pair{"output " + strconv.Itoa(i), record{
			{"into", string(r.Relay.Ref.Name)}, {"construction", guestConstruction(def.Routes[i])}, {"branch", branch},
		}})
	}
	lines = append(lines, pair{"live branches", uint64(len(seen.Branches)) + seen.Omitted})
	return Inspection{append(lines,
		pair{"branches", branches(seen.Branches)},
		pair{"branches omitted", seen.Omitted},
		pair{"rows", record{{"given", seen.Rows.Given}, {"acked", seen.Rows.Acked}, {"nacked", seen.Rows.Nacked}, {"failed", seen.Rows.Failed}}},
		pair{"restarts", seen.Restarts},
		pair{"recycled", seen.Recycled},
		pair{"rejected", sum(seen.Rejected)},
		pair{"rejected by", byClass(seen.Rejected)},
		pair{"last errors", lastErrors(seen.Errors)},
		pair{"metrics", section{{"incoming_edges", edges("received", seen.Received)}, {"outgoing_edges", edges("sent", seen.Sent)}}},
	)}
}

func globalPolicy(p ast.GlobalPolicy) string {
	if p.Policy == ast.PolicyLog {
		return "LOG"
	}
	return "IGNORE"
}

func guestConstruction(r ast.GuestRoute) string {
	if len(r.Set) == 0 && r.Where == nil {
		return "absent"
	}
	return "present"
}

func branches(all []WASMBranch) rows {
	list := rows{}
	for _, b := range all {
		name := b.Fingerprint
		if name == "" {
			name = "unbranched"
		}
		var required, confirmed any = "unknown", "unknown"
		if b.Known {
			required, confirmed = b.Required, b.Confirmed
		}
		list = append(list, record{
			{"fingerprint", name}, {"generation", uint64(b.Generation)}, {"instance_generation", b.Instance}, {"callbacks", b.Callbacks},
			{"last_callback_fuel", b.Fuel}, {"linear_memory_bytes", b.Memory}, {"held_rows", b.Held}, {"committed_revision", known(b.Committed)},
			{"latest_revision", known(b.Latest)}, {"checkpoint", b.Stage}, {"required_replicas", required}, {"confirmed_replicas", confirmed},
		})
	}
	return list
}

// known is nil for a number from 1 on that there is not: a revision without saved state, a row without a batch.
func known(n uint64) any {
	if n == 0 {
		return nil
	}
	return n
}

func lastErrors(list []WASMError) rows {
	out := rows{}
	for _, e := range list {
		var module any
		if e.Module != "" {
			module = e.Module
		}
		out = append(out, record{
			{"at", time.Unix(0, e.At.NS()).UTC().Format(time.RFC3339Nano)}, {"code", string(e.Code)}, {"module", module}, {"first_row", known(e.FirstRow)},
			{"message", e.Text},
		})
	}
	return out
}
