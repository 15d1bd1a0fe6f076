// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/wire"
)

// resourceBody is the part of reader.body that concerns resources and authorities; nil for any other body.
func (r *reader) resourceBody(b *wire.ControlBody) Body {
	switch v := b.Value.(type) {
	case *wire.ControlAdmitVersion:
		return &AdmitVersion{Domain: ident.Name(v.Domain), Resource: ident.Name(v.Resource), Upload: r.given(v.Upload), Node: ident.Node(v.Node)}
	case *wire.ControlCompleteVersion:
		return &CompleteVersion{
			Domain: ident.Name(v.Domain), Resource: ident.Name(v.Resource), Upload: r.given(v.Upload), Version: v.Version,
			Content: Content{Digest: r.digest(v.Digest), ArchiveBytes: v.ArchiveBytes, Files: v.Files, Bytes: v.Bytes},
		}
	case *wire.ControlFailVersion:
		return &FailVersion{Domain: ident.Name(v.Domain), Resource: ident.Name(v.Resource), Upload: r.given(v.Upload), Version: v.Version}
	case *wire.ControlReconcileAuthority:
		return r.reconcile(v)
	}
	return nil
}

func packResourceBody(b Body) *wire.ControlBody {
	switch v := b.(type) {
	case *AdmitVersion:
		return &wire.ControlBody{Type: wire.ControlBodyAdmitVersion, Value: &wire.ControlAdmitVersion{
			Upload: packReference(v.Upload), Domain: string(v.Domain), Resource: string(v.Resource), Node: uint64(v.Node),
		}}
	case *CompleteVersion:
		return &wire.ControlBody{Type: wire.ControlBodyCompleteVersion, Value: &wire.ControlCompleteVersion{
			Upload: packReference(v.Upload), Domain: string(v.Domain), Resource: string(v.Resource), Version: v.Version,
			Digest: packDigest(v.Content.Digest), ArchiveBytes: v.Content.ArchiveBytes, Files: v.Content.Files, Bytes: v.Content.Bytes,
		}}
	case *FailVersion:
		return &wire.ControlBody{Type: wire.ControlBodyFailVersion, Value: &wire.ControlFailVersion{
			Upload: packReference(v.Upload), Domain: string(v.Domain), Resource: string(v.Resource), Version: v.Version,
		}}
	case *ReconcileAuthority:
		return &wire.ControlBody{Type: wire.ControlBodyReconcileAuthority, Value: packReconcile(v)}
	}
	return nil
}

func (r *reader) binding(b *wire.ControlBinding) Binding {
	return Binding{Resource: ident.Name(b.Resource), Version: b.Version, Latest: b.Latest}
}

func packBinding(b Binding) *wire.ControlBinding {
	return &wire.ControlBinding{Resource: string(b.Resource), Version: b.Version, Latest: b.Latest}
}

func packResource(x *Resource) *wire.ControlStoredResource {
	return &wire.ControlStoredResource{
		Name: string(x.Name), Created: uint64(x.Created), Last: x.Last,
		Versions: each(x.Versions, func(v *Version) *wire.ControlStoredVersion {
			return &wire.ControlStoredVersion{
				Upload: packReference(v.Upload), Owner: string(v.Owner), Number: v.Number, State: wire.ControlVersionState(v.State),
				Node: uint64(v.Node), Digest: packDigest(v.Digest), ArchiveBytes: v.ArchiveBytes, Files: v.Files, Bytes: v.Bytes,
				AdmittedNs: v.Admitted.NS(), CompletedNs: v.Completed.NS(),
			}
		}),
	}
}

// resources reads the versions of a domain, whose definitions are read before: each resource has exactly one definition.
func (r *reader) resources(d *Domain, list []*wire.ControlStoredResource) {
	for _, w := range list {
		x := &Resource{Name: ident.Name(w.Name), Created: ident.Revision(w.Created), Last: w.Last, Versions: each(w.Versions, r.version)}
		before := uint64(0)
		for _, v := range x.Versions {
			if v.Number <= before || v.Number > x.Last {
				r.fail("RESOURCE %s has version %d after %d, and %d is the last", w.Name, v.Number, before, x.Last)
			}
			before = v.Number
		}
		if d.Definitions[Key{ident.KindResource, x.Name}] == nil {
			r.fail("RESOURCE %s of domain %s has versions and no definition", w.Name, d.Name)
		}
		d.Resources[x.Name] = x
	}
	for k := range d.Definitions {
		if k.Kind == ident.KindResource && d.Resources[k.Name] == nil {
			r.fail("RESOURCE %s of domain %s has a definition and no versions", k.Name, d.Name)
		}
	}
}

func (r *reader) version(w *wire.ControlStoredVersion) *Version {
	return &Version{
		Number: w.Number, State: VersionState(w.State),
		Content: Content{Digest: r.digest(w.Digest), ArchiveBytes: w.ArchiveBytes, Files: w.Files, Bytes: w.Bytes},
		Upload:  r.given(w.Upload), Owner: ident.Name(w.Owner), Node: ident.Node(w.Node),
		Admitted: vtime.UTCFromNS(w.AdmittedNs), Completed: vtime.UTCFromNS(w.CompletedNs),
	}
}
