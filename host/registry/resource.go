// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"cmp"
	"slices"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// VersionState is the place of a version in its life. The numbers are stored.
type VersionState uint8

// The states. Only a completed version can be bound (nspl 13.1).
const (
	VersionUploading VersionState = 1
	VersionCompleted VersionState = 2
	VersionFailed    VersionState = 3
)

// String is the state as people read it: uploading, completed or failed.
func (v VersionState) String() string {
	switch v {
	case VersionUploading:
		return "uploading"
	case VersionCompleted:
		return "completed"
	default:
		return "failed"
	}
}

// Content is what the archive of a completed version was: its identity, and what it takes.
type Content struct {
	Digest       [DigestBytes]byte // BLAKE3 of the archive
	ArchiveBytes uint64            // as it was sent
	Files        uint64            // regular files in it
	Bytes        uint64            // of the files together
}

// Version is one upload of a resource. It is immutable.
type Version struct {
	Number uint64
	State  VersionState
	Content
	// Upload is the upload identity and Owner its user: both together name one version for ever.
	Upload    ident.Reference
	Owner     ident.Name
	Node      ident.Node // received it
	Admitted  vtime.UTC
	Completed vtime.UTC // zero unless completed
}

// Resource is the committed sequence of versions of one resource. It is immutable.
type Resource struct {
	Name ident.Name
	// Created tells a resource from a later one of the same name.
	Created ident.Revision
	// Last is the greatest number ever given; numbers are never given twice.
	Last uint64
	// Versions ascend by number. Numbers that are missing failed long ago.
	Versions []*Version
}

// Version finds a version by its number; nil when it never was, or failed long ago.
func (r *Resource) Version(number uint64) *Version {
	i, found := slices.BinarySearchFunc(r.Versions, number, func(v *Version, n uint64) int { return cmp.Compare(v.Number, n) })
	if !found {
		return nil
	}
	return r.Versions[i]
}

// Latest is the completed version with the greatest number; nil when none is completed.
func (r *Resource) Latest() *Version {
	for _, v := range slices.Backward(r.Versions) {
		if v.State == VersionCompleted {
			return v
		}
	}
	return nil
}

// Upload finds the version of an upload identity. A version that failed does not count: its identity may be uploaded again.
func (r *Resource) Upload(owner ident.Name, upload ident.Reference) *Version {
	for _, v := range slices.Backward(r.Versions) {
		if v.Upload == upload && v.Owner == owner && v.State != VersionFailed {
			return v
		}
	}
	return nil
}

// failedKept is how many failed versions of a resource are remembered; older ones are gaps without a record, so that failing uploads
// cannot fill the state.
const failedKept = 16

// with gives a resource that holds v, in place of the version of its number or as the newest one.
func (r *Resource) with(v *Version) *Resource {
	next := *r
	next.Last = max(r.Last, v.Number)
	next.Versions = make([]*Version, 0, len(r.Versions)+1)
	for _, old := range r.Versions {
		if old.Number != v.Number {
			next.Versions = append(next.Versions, old)
		}
	}
	at, _ := slices.BinarySearchFunc(next.Versions, v.Number, func(o *Version, n uint64) int { return cmp.Compare(o.Number, n) })
	next.Versions = slices.Insert(next.Versions, at, v)
	next.forgetFailed()
	return &next
}

// forgetFailed drops the oldest failed versions beyond what is kept; the slice belongs to the caller.
func (r *Resource) forgetFailed() {
	failed := 0
	for _, v := range r.Versions {
		if v.State == VersionFailed {
			failed++
		}
	}
	r.Versions = slices.DeleteFunc(r.Versions, func(v *Version) bool {
		if v.State != VersionFailed || failed <= failedKept {
			return false
		}
		failed--
		return true
	})
}

// versions counts the recorded versions of all resources.
func (s *State) versions() int {
	total := 0
	for _, d := range s.Domains {
		for _, r := range d.Resources {
			total += len(r.Versions)
		}
	}
	return total
}

// withResource gives a state in which the resource of r's name in d is r.
func (s *State) withResource(d *Domain, r *Resource) *State {
	next := *d
	next.Resources = cloneOrMake(d.Resources)
	next.Resources[r.Name] = r
	return s.withDomain(&next)
}
