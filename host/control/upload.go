// SPDX-License-Identifier: Apache-2.0

package control

import (
	"context"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/host/registry"
)

// UploadRequest names one upload. The identity belongs to user, domain and resource and never expires: repeated, it leads to the same
// version. Another user's equal identity is another upload.
type UploadRequest struct {
	Reference ident.Reference // the upload identity
	User      ident.Name      // authenticated
	Domain    ident.Domain
	Resource  ident.Name
}

// Upload is the version that an upload was admitted as.
type Upload struct {
	Version uint64
	// Completed says that this identity was completed before, with Digest; the same bytes need not be stored again, and others are a conflict.
	Completed bool
	Digest    [32]byte
}

// UploadedVersion is what was stored for an admitted version.
type UploadedVersion struct {
	Version      uint64
	Digest       [32]byte // BLAKE3 of the archive
	ArchiveBytes uint64
	Bytes        uint64 // extracted
	Files        uint64
}

// AdmitUpload gives the upload its version number, which is never given again: it is completed, or failed and a gap. It may be called while the
// domain runs and while a transaction is open or committing, and changes nothing that runs (nspl 13.1). ctx bounds the wait; after
// `control.uncertain` the same call may be repeated. Errors: `domain.unknown`, `resource.unknown`, `resource.version_limit`,
// `control.reference`, `control.closed`, and those of the log.
func (c *Control) AdmitUpload(ctx context.Context, u UploadRequest) (Upload, error) {
	if u.Reference.IsZero() {
		return Upload{}, u.fault(fault.ControlReference, "an upload needs an identity")
	}
	if err := c.version(ctx, u, &registry.AdmitVersion{Domain: u.Domain, Resource: u.Resource, Upload: u.Reference, Node: c.cfg.Node.ID}); err != nil {
		return Upload{}, err
	}
	d := c.State().Domains[u.Domain]
	if d == nil || d.Resources[u.Resource] == nil {
		return Upload{}, u.fault(fault.ResourceUnknown, "it was dropped meanwhile")
	}
	v := d.Resources[u.Resource].Upload(u.User, u.Reference)
	if v == nil {
		return Upload{}, u.fault(fault.ResourceConflict, "the version was given up meanwhile")
	}
	return Upload{Version: v.Number, Completed: v.State == registry.VersionCompleted, Digest: v.Digest}, nil
}

// CompleteUpload commits that the files of an admitted version are installed here; from then on it can be bound. Repeated with the same digest
// it changes nothing. Errors: those of AdmitUpload, `resource.version_unknown`, and `resource.version_conflict` when the version failed, was
// completed with another digest, or belongs to another upload.
func (c *Control) CompleteUpload(ctx context.Context, u UploadRequest, done UploadedVersion) error {
	return c.version(ctx, u, &registry.CompleteVersion{
		Domain: u.Domain, Resource: u.Resource, Upload: u.Reference, Version: done.Version,
		Content: registry.Content{Digest: done.Digest, ArchiveBytes: done.ArchiveBytes, Files: done.Files, Bytes: done.Bytes},
	})
}

// FailUpload gives an admitted version up. Repeated it changes nothing; a completed version is a `resource.version_conflict` and stays. What a
// node does not fail itself, because it dies, is failed when it opens again.
func (c *Control) FailUpload(ctx context.Context, u UploadRequest, version uint64) error {
	return c.version(ctx, u, &registry.FailVersion{Domain: u.Domain, Resource: u.Resource, Upload: u.Reference, Version: version})
}

// version proposes a step of an upload.
func (c *Control) version(ctx context.Context, u UploadRequest, body registry.Body) error {
	if c.ctx.Err() != nil {
		return u.fault(fault.ControlClosed, "")
	}
	ctx, cancel := osclock.WithTimeout(ctx, settleTimeout)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	res, err := c.propose(ctx, &registry.Command{User: u.User, Domain: u.Domain, Body: body})
	if err != nil {
		return err
	}
	if res.Outcome.Failed() { // the text names its subject
		return fault.New(res.Outcome.Code, "control.Upload", ident.Ref{}, res.Outcome.Text, nil)
	}
	return nil
}

func (u UploadRequest) fault(code fault.Code, detail string) error {
	return fault.New(code, "control.Upload", ident.Ref{Domain: u.Domain, Kind: ident.KindResource, Name: u.Resource}, detail, nil)
}
