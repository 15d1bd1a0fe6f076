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
	frame.Filter = nil
	frame.Inputs.From = nil
	for _, in := range j.Inputs.From {
		in.Where = nil
		frame.Inputs.From = append(frame.Inputs.From, in)
	}
	frame.Routes = nil
	for _, r := range j.Routes {
		r.Construct, r.Flush, r.OnError.Set = ast.Construct{}, ast.Flush{}, nil
		if r.OnError.Policy != ast.PolicySendTo {
			r.OnError.Policy = ast.PolicyIgnore
		}
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
