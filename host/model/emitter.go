// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/nervix-go/nervix/host/expr/construct"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/types"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// Emitter is the plan of an emitter (nspl 18).
type Emitter struct {
	Ref         ident.Ref
	Fingerprint Fingerprint
	// Definition is what the plan was made from; only renderings read it.
	Definition *ast.CreateEmitter
	Attached   bool
	// Inputs may have different branches.
	Inputs []Input
	// InputSchema is the one schema of all inputs.
	InputSchema *types.Schema
	Client      *Client
	Sink        Sink
	Retry       Retry
	// Codec encodes the constructed rows; its schema is the schema of Construct.
	Codec     *Codec
	Construct *construct.Plan
	Flush     Flush
	Policy    Policy
	// GeneralLog says whether node-wide failures are reported as runtime errors (ON GENERAL ERROR LOG).
	GeneralLog bool
}

// Sink says where payloads go.
type Sink struct {
	// Kind is the connector kind, lower-case, for example `file`.
	Kind string
	// Options are the options of the connector; for `file`: path, relative to the client's root.
	Options map[string]string
}
