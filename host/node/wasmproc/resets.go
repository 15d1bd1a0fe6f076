// SPDX-License-Identifier: Apache-2.0

package wasmproc

import (
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Resets replaces state lifetimes (W11, W12).
type Resets interface {
	// Request asks for a new lifetime of the state at p, because its guest asked. If it gives pending, done is called once, later and from any
	// goroutine; nil means that the new lifetime is durable. The branch keeps its lifetime if there is an error.
	Request(p Place, done func(error)) (pending bool, err error)
}

// NoResets is the coordinator of a node that has none: every request fails, and the branch keeps its lifetime.
type NoResets struct{}

// Request implements Resets.
func (NoResets) Request(p Place, _ func(error)) (bool, error) {
	return false, fault.New(fault.WasmReset, "wasmproc.Request", ident.Ref{Kind: ident.KindWASM, Domain: p.Domain, Name: p.Processor},
		"coordinated resets of guest state are not available yet; the branch keeps its state", nil)
}
