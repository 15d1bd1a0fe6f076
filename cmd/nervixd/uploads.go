// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/host/control"
	"github.com/nervix-go/nervix/host/datadir"
	"github.com/nervix-go/nervix/host/describe"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/registry"
	"github.com/nervix-go/nervix/host/resource"
	"github.com/nervix-go/nervix/host/session/uploads"
)

// openResources opens the store of uploaded versions, without what interrupted uploads left.
func (n *node) openResources() error {
	path, err := n.dir.Sub("resources")
	if err != nil {
		return err
	}
	n.resources, err = resource.Open(path, resource.Options{Log: n.options.log})
	return err
}

// serveUploads compares the store with the committed versions and makes the handler of uploads. Control is open.
func (n *node) serveUploads() {
	for _, v := range completedVersions(n.control.State()) {
		if err := n.resources.Check(v.Digest); err != nil {
			n.options.log.Error("a version of a resource cannot be used on this node", "domain", v.resource.Domain, "resource", v.resource.Name, "version", v.Number, "code", fault.CodeOf(err), "error", err)
		}
	}
	n.removeUnreferenced()
	n.uploads = uploads.New(uploads.Config{
		Control: uploadControl{n.control, &n.failed}, Store: uploadStore{n.resources}, Log: n.options.log, Failed: n.removeUnreferenced,
	})
}

// removeUnreferenced removes the files of versions that no domain has: of uploads that were not completed, and of dropped domains.
func (n *node) removeUnreferenced() {
	removed, err := n.resources.Keep(func() map[resource.Digest]bool {
		keep := map[resource.Digest]bool{}
		for _, v := range completedVersions(n.control.State()) {
			keep[v.Digest] = true
		}
		return keep
	})
	if err != nil {
		n.options.log.Warn("files of unused resource versions stay until the next start", "error", err)
	}
	if removed > 0 {
		n.options.log.Info("removed files of unused resource versions", "versions", removed)
	}
}

// completed is a completed version with its place.
type completed struct {
	*registry.Version
	resource ident.Ref
}

// completedVersions gives all completed versions of all domains.
func completedVersions(s *registry.State) []completed {
	var all []completed
	for domain, d := range s.Domains {
		for name, r := range d.Resources {
			for _, v := range r.Versions {
				if v.State == registry.VersionCompleted {
					all = append(all, completed{v, ident.Ref{Domain: domain, Kind: ident.KindResource, Name: name}})
				}
			}
		}
	}
	return all
}

// uploadControl is the control plane as uploads see it.
type uploadControl struct {
	control *control.Control
	failed  *failedUploads
}

// Admit implements uploads.Control.
func (c uploadControl) Admit(ctx context.Context, r uploads.Request) (uploads.Admitted, error) {
	u, err := c.control.AdmitUpload(ctx, control.UploadRequest(r))
	return uploads.Admitted(u), err
}

// Complete implements uploads.Control.
func (c uploadControl) Complete(ctx context.Context, r uploads.Request, s uploads.Stored) error {
	return attemptOf(ctx).saw(c.control.CompleteUpload(ctx, control.UploadRequest(r), control.UploadedVersion(s)))
}

// Fail implements uploads.Control.
func (c uploadControl) Fail(ctx context.Context, r uploads.Request, version uint64) error {
	c.failed.note(failedVersion{r.Domain, r.Resource, version}, attemptOf(ctx).why())
	return c.control.FailUpload(ctx, control.UploadRequest(r), version)
}

// uploadStore is the store as uploads see it.
type uploadStore struct{ store *resource.Store }

// Receive implements uploads.Store.
func (s uploadStore) Receive(ctx context.Context, from io.Reader) (uploads.Received, error) {
	a := attemptOf(ctx)
	r, err := s.store.Receive(ctx, from)
	if err != nil {
		return nil, a.saw(err)
	}
	a.received = true
	return received{r, a}, nil
}

type received struct {
	*resource.Received
	attempt *attempt
}

// Publish implements uploads.Received.
func (r received) Publish() error { return r.attempt.saw(r.Received.Publish()) }

// Stored implements uploads.Received.
func (r received) Stored() uploads.Stored {
	v := r.Version()
	return uploads.Stored{Digest: v.Digest, ArchiveBytes: v.ArchiveBytes, Bytes: v.Bytes, Files: v.Files}
}

// upload executes UPLOAD RESOURCE of the file. The folder is relative to the working directory, as in nervix.
func (r *fileRun) upload(ctx context.Context, domain ident.Domain, inside bool, s *ast.Upload) *fault.Diagnostic {
	refuse := func(code fault.Code, text string) *fault.Diagnostic {
		d := fault.At(fault.StageAdmit, code, s.Span, text, fault.Lookup(code).Hint)
		return &d
	}
	switch {
	case inside:
		return refuse(fault.TransactionContent, "UPLOAD RESOURCE cannot be part of a transaction")
	case domain == "":
		return refuse(fault.DomainUnselected, "UPLOAD RESOURCE needs a domain")
	}
	reference, _ := ident.ParseReference(client.NewReference()) // well-formed
	stored, err := r.node.pack(ctx, uploads.Request{Reference: reference, User: datadir.AdminUser, Domain: domain, Resource: s.Resource.Name}, s.Directory.Value)
	if err != nil {
		return refuse(fault.CodeOf(err), err.Error())
	}
	r.log.Info("uploaded", "domain", domain, "resource", s.Resource.Name, "version", stored.Version, "files", stored.Files, "bytes", stored.Bytes)
	return nil
}

// pack uploads a folder of this machine.
func (n *node) pack(ctx context.Context, r uploads.Request, directory string) (uploads.Stored, error) {
	directory, err := client.ExpandHome(directory)
	if err != nil {
		return uploads.Stored{}, err
	}
	f, err := client.OpenFolder(ctx, directory)
	if err != nil {
		return uploads.Stored{}, err
	}
	defer f.Close()
	skipped, more := f.Skipped()
	for _, one := range skipped {
		n.options.log.Warn("left out of an upload", "path", one.Path, "is", one.Why)
	}
	if more > 0 {
		n.options.log.Warn("left out of an upload: others that are not named", "number", more)
	}
	from, to := io.Pipe()
	sent := make(chan error, 1)
	go func() {
		err := f.Send(ctx, to)
		_ = to.CloseWithError(err) // io.EOF when there is none
		sent <- err
	}()
	stored, err := n.uploads.Take(withAttempt(ctx), r, from)
	_ = from.Close()
	if failed := <-sent; fault.Has(failed, fault.ResourceFolder) {
		err = failed // the store saw only a stream that broke off
	}
	return stored, err
}

// inspector answers DESCRIBE RESOURCE and DESCRIBE INGESTOR of what does not run, and leaves the rest to the engine.
type inspector struct{ n *node }

// Inspect implements control.Inspector.
func (i inspector) Inspect(ctx context.Context, s *registry.State, domain ident.Domain, stmt ast.Statement) (control.Inspection, error) {
	d, ok := stmt.(*ast.Describe)
	if ok && s.Domains[domain] != nil {
		if shown, ok := i.n.stoppedIngestor(s.Domains[domain], d); ok {
			return shown, nil
		}
	}
	if !ok || d.Kind != ident.KindResource || s.Domains[domain] == nil {
		return i.n.engine.Inspect(ctx, s, domain, stmt)
	}
	seen, err := i.n.observeResource(s.Domains[domain], d)
	if err != nil {
		return control.Inspection{}, err
	}
	shown := describe.Resource(d.Name.Name, seen)
	out := control.Inspection{Text: shown.Text()}
	if d.Format == ast.FormatJSON {
		out.JSON = shown.JSON()
	}
	return out, nil
}

// observeResource gathers what DESCRIBE RESOURCE shows.
func (n *node) observeResource(d *registry.Domain, stmt *ast.Describe) (describe.ResourceObservation, error) {
	var seen describe.ResourceObservation
	name := stmt.Name.Name
	r := d.Resources[name]
	if r == nil {
		return seen, fault.Diagnostics{fault.At(fault.StageResolve, fault.ResourceUnknown, stmt.Name.Span, "there is no RESOURCE "+string(name)+" in domain "+string(d.Name), fault.Lookup(fault.ResourceUnknown).Hint)}
	}
	wanted := func(uint64) bool { return true }
	if stmt.Version != nil {
		wanted = func(version uint64) bool { return version == stmt.Version.Value }
	}
	if latest := r.Latest(); latest != nil {
		seen.Latest = latest.Number
	}
	for _, v := range r.Versions {
		if wanted(v.Number) {
			shown := versionOf(v)
			if v.State == registry.VersionFailed {
				shown.Problem = n.failed.why(failedVersion{d.Name, name, v.Number})
			}
			seen.Versions = append(seen.Versions, shown)
			if v.State == registry.VersionCompleted {
				seen.Replicas = append(seen.Replicas, n.replica(v))
			}
		}
	}
	if len(seen.Versions) == 0 && stmt.Version != nil {
		return seen, fault.Diagnostics{fault.At(fault.StageResolve, fault.ResourceVersionUnknown, stmt.Version.Span, "RESOURCE "+string(name)+" has no such version, or it failed long ago", fault.Lookup(fault.ResourceVersionUnknown).Hint)}
	}
	graph, err := n.engine.Graph(d)
	if err != nil {
		return seen, err
	}
	for _, w := range graph.WASMs {
		if w.Module.Resource == name && wanted(w.Module.Version) {
			seen.Usages = append(seen.Usages, describe.ResourceUsage{Kind: w.Ref.Kind, Name: w.Ref.Name, Version: w.Module.Version, File: w.Module.File})
		}
	}
	return seen, nil
}

func versionOf(v *registry.Version) describe.ResourceVersion {
	return describe.ResourceVersion{
		Number: v.Number, State: v.State.String(), Owner: v.Owner, Admitted: v.Admitted, Completed: v.Completed, Digest: v.Digest,
		ArchiveBytes: v.ArchiveBytes, Bytes: v.Bytes, Files: v.Files,
	}
}

// replica tells what this node has of a version.
func (n *node) replica(v *registry.Version) describe.ResourceReplica {
	r := describe.ResourceReplica{Version: v.Number, Node: n.engine.NodeName(), Incarnation: n.dir.Incarnation(), State: "installed"}
	err := n.resources.Check(v.Digest)
	switch {
	case err == nil:
		return r
	case fault.Has(err, fault.ResourceMissing):
		r.State = "missing"
	case fault.Has(err, fault.ResourceDamaged):
		r.State = "damaged"
	default:
		r.State = "unreadable"
	}
	r.Problem = err.Error()
	return r
}
