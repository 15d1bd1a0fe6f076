// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"errors"
	"sync"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/wasm/protocol"
)

// errorsKept is how many runtime errors a processor remembers.
const errorsKept = 16

// RuntimeError is one reported failure. Message has the shape of W-246 where a guest, its module or its checkpoint failed; that shape has no place for
// the module's content and the row, which stand beside it (A01).
type RuntimeError struct {
	At      vtime.UTC
	Code    fault.Code
	Message string
	// Module is the beginning of the SHA-256 of the module, 32 lower-case hexadecimal digits; empty while the module is not known.
	Module string
	// FirstRow says which row the batch that was being processed begins with: rows that the branch took into work on this node are counted from 1,
	// redelivered ones again. 0 means that no batch was being processed.
	FirstRow uint64
}

// reporter logs runtime errors and keeps the newest.
type reporter struct {
	mu     sync.Mutex
	newest []RuntimeError // oldest first
	total  uint64
}

func (r *reporter) add(e RuntimeError) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total++
	if len(r.newest) == errorsKept {
		copy(r.newest, r.newest[1:])
		r.newest = r.newest[:errorsKept-1]
	}
	r.newest = append(r.newest, e)
}

// list is newest first.
func (r *reporter) list() (newest []RuntimeError, total uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.newest) - 1; i >= 0; i-- {
		newest = append(newest, r.newest[i])
	}
	return newest, r.total
}

// report makes a runtime error of err. firstRow is that of RuntimeError.
func (p *Processor) report(err error, firstRow uint64) {
	e := RuntimeError{At: osclock.UTC(), Code: fault.CodeOf(err), Message: messageOf(err), FirstRow: firstRow}
	if m := p.module.Load(); m != nil {
		e.Module = m.content
	}
	p.errors.add(e)
	args := []any{
		"code", string(e.Code), "domain", string(p.plan.Ref.Domain), "kind", p.plan.Ref.Kind.String(), "name", string(p.plan.Ref.Name), "message", e.Message,
	}
	if e.Module != "" {
		args = append(args, "module", e.Module)
	}
	if e.FirstRow > 0 {
		args = append(args, "first_row", e.FirstRow)
	}
	p.config.Log.Error("a WASM processor failed", args...)
}

func messageOf(err error) string {
	var f *protocol.Failure
	if errors.As(err, &f) {
		return f.Error()
	}
	return protocol.Plain(err)
}

// diagnostic is a failure in its printed shape (W-246). branch is a fingerprint, empty for unbranched; revision 0 means that no saved state is
// involved.
func (p *Processor) diagnostic(f *Failure, branch string, revision uint64) *protocol.Failure {
	cause := f.Cause
	if f.Export != "" && f.Export != f.Stage.Export() { // another export than the one that names the operation
		cause = within("the call of "+f.Export, cause)
	}
	m := p.plan.Module
	return &protocol.Failure{
		Processor: string(p.plan.Ref.Name), Stage: f.Stage, Branch: branch, Resource: string(m.Resource), Version: m.Version, File: m.File,
		Revision: revision, Cause: cause,
	}
}

// within puts a clause before the chain of an error and keeps its code.
func within(clause string, err error) error {
	return &fault.Error{Code: fault.CodeOf(err), Op: "wasmproc", Detail: clause, Err: err}
}

// failureOf gives an error of a port its stage.
func failureOf(err error, stage protocol.Stage) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	if fault.CodeOf(err) == "" {
		err = &fault.Error{Code: fault.WasmCheckpoint, Op: "wasmproc", Detail: err.Error()}
	}
	return &Failure{Stage: stage, Cause: err}
}
