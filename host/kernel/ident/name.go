// SPDX-License-Identifier: Apache-2.0

// Package ident holds the identities of Nervix: names, object kinds, nodes, incarnations, generations and references.
// All are distinct types, so that look-alike strings and numbers cannot be exchanged by accident. The package reads no clock and no
// random source.
package ident

// Name is the name of an object, a field or a domain. It is stored lower-case (nspl 1.3) and is 1..255 bytes long.
type Name string

// MaxNameBytes is the longest name (nspl 25).
const MaxNameBytes = 255

// Domain names a domain: the owner of one graph, its clock and its lifecycle.
type Domain = Name

// Ref names one object of one domain. Domain is empty for cluster-wide kinds (DOMAIN, USER, NODE).
type Ref struct {
	Domain Domain
	Kind   Kind
	Name   Name
}

// String is the form used in diagnostics: `KIND name` or `KIND name in domain d`.
func (r Ref) String() string {
	switch {
	case r == Ref{}:
		return ""
	case r.Domain == "":
		return r.Kind.String() + " " + string(r.Name)
	default:
		return r.Kind.String() + " " + string(r.Name) + " in domain " + string(r.Domain)
	}
}
