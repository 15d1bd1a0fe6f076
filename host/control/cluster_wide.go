// SPDX-License-Identifier: Apache-2.0

package control

import (
	"github.com/nervix-go/nervix/host/clock"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/print"
	"github.com/nervix-go/nervix/host/registry"
)

func (c *Control) createDomain(h head, s *ast.CreateDomain) answer {
	body := &registry.CreateDomain{
		Name: s.Name.Name, Text: print.Statement(s), Grammar: GrammarVersion, Pace: registry.Unpaced, Placement: placement(s.Placement),
		IfNotExists: s.IfNotExists,
	}
	if s.Pace == ast.Paced {
		if s.Period.NS == 0 {
			return refuse(fault.StageCheck, fault.ClockPace, s.Period.Span, "the period of a paced domain is at least 1ns")
		}
		body.Pace, body.Pacing = registry.Paced, clock.Pace{Period: s.Period.NS, Skew: s.Skew.NS}
	}
	a, _ := c.effect(h, body, named(s)+" created")
	return a
}

func placement(p ast.Placement) registry.Placement {
	switch p {
	case ast.PlacementRequireColocation:
		return registry.PlacementRequireColocation
	case ast.PlacementPreferColocation:
		return registry.PlacementPreferColocation
	case ast.PlacementSuggestSeparation:
		return registry.PlacementSuggestSeparation
	default:
		return registry.PlacementNeutral
	}
}

// dropCluster executes DROP DOMAIN and DROP USER.
func (c *Control) dropCluster(h head, s *ast.Drop) answer {
	if s.Kind == ident.KindUser {
		a, _ := c.effect(h, &registry.DropUser{Name: s.Name.Name}, named(s)+" dropped")
		return a
	}
	if !c.lock(s.Name.Name) {
		return refuse(fault.StageAdmit, fault.DomainBusy, h.span, "another change of domain "+string(s.Name.Name)+" is under way")
	}
	defer c.unlock(s.Name.Name)
	a, _ := c.effect(h, &registry.DropDomain{Name: s.Name.Name}, named(s)+" dropped")
	if a.disposition() == Completed {
		c.parsed.forget(s.Name.Name)
	}
	return a
}

// putUser hashes the password here, once, so that no command, log or snapshot ever holds it.
func (c *Control) putUser(h head, name ident.Name, password ast.Secret, body *registry.PutUser, verb string) answer {
	phc, err := c.cfg.Hasher.Hash(password.Reveal())
	if err != nil {
		return answer{diagnostics: fromError(fault.StageApply, fault.ControlUnavailable, err)}
	}
	body.User = registry.User{Name: name, PHC: phc}
	a, _ := c.effect(h, body, object(ident.KindUser, name)+" "+verb)
	return a
}
