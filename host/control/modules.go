// SPDX-License-Identifier: Apache-2.0

package control

import (
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/registry"
)

// prepare has the module of a bound definition judged before anything is committed. It may take a minute, so the caller holds at most the
// alteration lock of the domain. Anything but a WASM processor is nothing to judge.
func (c *Control) prepare(d *registry.Domain, s ast.Statement) fault.Diagnostics {
	one, ok := s.(*ast.CreateWASM)
	if !ok || c.cfg.Modules == nil || one.Version.Latest {
		return nil
	}
	r := d.Resources[one.Resource.Name]
	if r == nil || r.Version(one.Version.Number) == nil {
		return nil // told already
	}
	err := c.cfg.Modules.Prepare(c.ctx, ModuleBinding{
		Processor: ident.Ref{Domain: d.Name, Kind: ident.KindWASM, Name: one.DefName()}, Resource: one.Resource.Name,
		Version: one.Version.Number, Digest: r.Version(one.Version.Number).Digest, File: one.File.Value,
		MaxMemory: one.MaxMemory.Bytes, MaxFuel: one.MaxFuel.Value,
	})
	switch {
	case err == nil:
		return nil
	case c.ctx.Err() != nil:
		return fault.Diagnostics{complaint(fault.StageAdmit, fault.ControlClosed, "the node is stopping")}
	}
	list := fromError(fault.StagePlan, fault.NodeFailed, err)
	for i := range list {
		if !list[i].Located {
			list[i].Located, list[i].Span = true, one.File.Span
		}
	}
	return list
}

// prepareAll judges the modules of a checked difference.
func (c *Control) prepareAll(d *registry.Domain, k Checked) fault.Diagnostics {
	for _, p := range k.Puts {
		if bad := c.prepare(d, p.Definition); len(bad) > 0 {
			return bad
		}
	}
	return nil
}
