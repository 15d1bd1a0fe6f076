// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"fmt"
	"maps"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// applyVersion applies the bodies that concern versions of resources.
func (s *State) applyVersion(c *Command) (next *State, res Result, known bool) {
	switch b := c.Body.(type) {
	case *AdmitVersion:
		next, res = s.admitVersion(c, b)
	case *CompleteVersion:
		next, res = s.completeVersion(c, b)
	case *FailVersion:
		next, res = s.failVersion(c, b)
	default:
		return s, Result{}, false
	}
	return next, res, true
}

// resource finds a resource whatever its domain is doing: uploads change nothing that runs and nothing a COMMIT depends on (nspl 13.1).
func (s *State) resource(domain ident.Domain, name ident.Name) (*Domain, *Resource, Result, bool) {
	d := s.Domains[domain]
	if d == nil {
		return nil, nil, refused(fault.DomainUnknown, "there is no domain "+string(domain)), false
	}
	r := d.Resources[name]
	if r == nil {
		return nil, nil, refused(fault.ResourceUnknown, "there is no RESOURCE "+string(name)+" in domain "+string(domain)), false
	}
	return d, r, Result{}, true
}

func (s *State) admitVersion(c *Command, b *AdmitVersion) (*State, Result) {
	d, r, res, ok := s.resource(b.Domain, b.Resource)
	switch {
	case !ok:
		return s, res
	case b.Upload.IsZero():
		return s, refused(fault.ControlReference, "an upload needs an identity")
	case r.Upload(c.User, b.Upload) != nil:
		return s, unchanged()
	case len(r.Versions) >= int(s.Limits.ResourceVersions):
		return s, refused(fault.ResourceVersions, fmt.Sprintf("RESOURCE %s has %d versions, which is the limit", r.Name, len(r.Versions)))
	case s.versions() >= int(s.Limits.Versions):
		return s, refused(fault.ResourceVersions, fmt.Sprintf("all resources together have %d versions, which is the limit", s.Limits.Versions))
	}
	return s.withResource(d, r.with(&Version{
		Number: r.Last + 1, State: VersionUploading, Upload: b.Upload, Owner: c.User, Node: b.Node, Admitted: c.UTC,
	})), applied()
}

// uploaded finds the version that an upload was admitted as.
func (s *State) uploaded(c *Command, domain ident.Domain, name ident.Name, number uint64, upload ident.Reference) (*Domain, *Resource, *Version, Result, bool) {
	d, r, res, ok := s.resource(domain, name)
	if !ok {
		return nil, nil, nil, res, false
	}
	v := r.Version(number)
	if v == nil {
		return nil, nil, nil, refused(fault.ResourceVersionUnknown, fmt.Sprintf("RESOURCE %s has no version %d", name, number)), false
	}
	if v.Upload != upload || v.Owner != c.User {
		return nil, nil, nil, refused(fault.ResourceConflict, fmt.Sprintf("version %d of RESOURCE %s belongs to another upload", number, name)), false
	}
	return d, r, v, Result{}, true
}

func (s *State) completeVersion(c *Command, b *CompleteVersion) (*State, Result) {
	d, r, v, res, ok := s.uploaded(c, b.Domain, b.Resource, b.Version, b.Upload)
	switch {
	case !ok:
		return s, res
	case v.State == VersionFailed:
		return s, refused(fault.ResourceConflict, fmt.Sprintf("version %d of RESOURCE %s failed before it was complete", v.Number, r.Name))
	case v.State == VersionCompleted && v.Digest == b.Content.Digest:
		return s, unchanged()
	case v.State == VersionCompleted:
		return s, refused(fault.ResourceConflict, fmt.Sprintf("version %d of RESOURCE %s was completed with other bytes under the same upload identity", v.Number, r.Name))
	}
	done := *v
	done.State, done.Content, done.Completed = VersionCompleted, b.Content, c.UTC
	return s.withResource(d, r.with(&done)), applied()
}

func (s *State) failVersion(c *Command, b *FailVersion) (*State, Result) {
	d, r, v, res, ok := s.uploaded(c, b.Domain, b.Resource, b.Version, b.Upload)
	switch {
	case !ok:
		return s, res
	case v.State == VersionFailed:
		return s, unchanged()
	case v.State == VersionCompleted:
		return s, refused(fault.ResourceConflict, fmt.Sprintf("version %d of RESOURCE %s is complete", v.Number, r.Name))
	}
	return s.withResource(d, r.with(v.failed())), applied()
}

func (v *Version) failed() *Version {
	next := *v
	next.State = VersionFailed
	return &next
}

// failUploads gives up what an earlier start of a node received and did not complete.
func (s *State) failUploads(node ident.Node) *State {
	next := s
	for _, name := range s.DomainNames() {
		d := s.Domains[name]
		for _, r := range d.Resources {
			for _, v := range r.Versions {
				if v.State == VersionUploading && v.Node == node {
					current := next.Domains[name]
					next = next.withResource(current, current.Resources[r.Name].with(v.failed()))
				}
			}
		}
	}
	return next
}

// bindable judges the versions that a mutation binds, against the resources the domain has then.
func (s *State) bindable(d *Domain, binds []Binding) (Result, bool) {
	for _, b := range binds {
		r := d.Resources[b.Resource]
		if r == nil {
			return refused(fault.ResourceUnknown, "there is no RESOURCE "+string(b.Resource)+" in domain "+string(d.Name)), false
		}
		v := r.Version(b.Version)
		switch {
		case v == nil:
			return refused(fault.ResourceVersionUnknown, fmt.Sprintf("RESOURCE %s has no version %d", b.Resource, b.Version)), false
		case v.State != VersionCompleted:
			return refused(fault.ResourceIncomplete, fmt.Sprintf("version %d of RESOURCE %s is %s", b.Version, b.Resource, v.State)), false
		case b.Latest && r.Latest() != v:
			return Result{Verdict: Stale}, false
		}
	}
	return Result{}, true
}

func cloneOrMake[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return maps.Clone(m)
}
