// SPDX-License-Identifier: Apache-2.0

package model

import (
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// Level is how much of a running domain must be quiet before a change takes effect (nspl 2.6). Greater levels include smaller ones.
type Level uint8

// The levels.
const (
	LevelDynamic Level = iota
	LevelEntityPause
	LevelDomainPause
)

// String is the level as it is printed after `quiesce level: `.
func (l Level) String() string {
	return [...]string{"DYNAMIC", "ENTITY_PAUSE", "DOMAIN_PAUSE", "?"}[l&3]
}

// levelOf is the level of one changed definition; old is nil for a new one.
func levelOf(old, next ast.Definition) Level {
	if old == nil {
		return LevelDynamic
	}
	switch now := next.(type) {
	case *ast.CreateRelay:
		if fixedShape(old) == fixedShape(next) {
			return LevelDynamic
		}
		return LevelDomainPause
	case *ast.CreateJunction:
		return junctionLevel(old.(*ast.CreateJunction), now)
	case *ast.CreateWASM:
		return wasmLevel(old.(*ast.CreateWASM), now)
	case *ast.CreateEmitter:
		return emitterLevel(old.(*ast.CreateEmitter), now)
	case *ast.CreateIngestor:
		return LevelEntityPause
	default:
		return LevelDomainPause
	}
}

// junctionLevel ignores what may change while the junction runs: predicates, construction, flush, and policies with the same target.
func junctionLevel(old, next *ast.CreateJunction) Level {
	if shape(junctionFrame(old)) == shape(junctionFrame(next)) {
		return LevelDynamic
	}
	return LevelEntityPause
}

func junctionFrame(j *ast.CreateJunction) *ast.CreateJunction {
	frame := *j
	frame.Filter, frame.Inputs = nil, inputFrame(j.Inputs)
	frame.Routes = nil
	for _, r := range j.Routes {
		r.Construct, r.Flush, r.OnError = ast.Construct{}, ast.Flush{}, policyFrame(r.OnError)
		frame.Routes = append(frame.Routes, r)
	}
	return &frame
}

func inputFrame(in ast.Inputs) ast.Inputs {
	frame := ast.Inputs{}
	for _, one := range in.From {
		one.Where = nil
		frame.From = append(frame.From, one)
	}
	return frame
}

func policyFrame(p ast.MessagePolicy) ast.MessagePolicy {
	p.Set = nil
	if p.Policy != ast.PolicySendTo {
		p.Policy = ast.PolicyIgnore
	}
	return p
}

// wasmLevel is junctionLevel for WASM processors: the module, its limits and the policies for its errors and its state pause it.
func wasmLevel(old, next *ast.CreateWASM) Level {
	if shape(wasmFrame(old)) == shape(wasmFrame(next)) {
		return LevelDynamic
	}
	return LevelEntityPause
}

func wasmFrame(w *ast.CreateWASM) *ast.CreateWASM {
	frame := *w
	frame.Filter, frame.Inputs = nil, inputFrame(w.Inputs)
	frame.Routes = nil
	for _, r := range w.Routes {
		r.Set, r.Where, r.OnError = nil, nil, policyFrame(r.OnError)
		frame.Routes = append(frame.Routes, r)
	}
	return &frame
}

// emitterLevel: FLUSH alone is dynamic, the list of relays pauses the domain, everything else the emitter.
func emitterLevel(old, next *ast.CreateEmitter) Level {
	if !sameRelays(old.Inputs, next.Inputs) {
		return LevelDomainPause
	}
	before, after := *old, *next
	before.Flush, after.Flush = ast.Flush{}, ast.Flush{}
	if shape(&before) == shape(&after) {
		return LevelDynamic
	}
	return LevelEntityPause
}

func sameRelays(a, b ast.Inputs) bool {
	if len(a.From) != len(b.From) {
		return false
	}
	for i := range a.From {
		if a.From[i].Relay.Name != b.From[i].Relay.Name {
			return false
		}
	}
	return true
}
