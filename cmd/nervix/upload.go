// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

const uploadHelp = `upload sends a folder as a new version of a resource of the domain, and prints the number of the version when it is complete.

All directories and regular files of the folder are sent; links and special files are left out and named. The same files make the same
version content whoever sends them, and whatever their times and owners are. Nothing that runs is changed: a definition binds a version
with VERSION n or VERSION LATEST.

A lost connection is no failure: the upload goes again. When the result stays unknown (exit 3), repeat the command with the --reference that
was printed: the version is then told, and not made twice.

Exits: 0 complete, 1 refused or failed, 2 usage or a folder that cannot be read, 3 uncertain, 4 cannot connect, 5 authentication.`

// uploadReport is the line of `nervix upload --format jsonl`, and the data of the statement.
type uploadReport struct {
	Domain       string          `json:"domain"`
	Resource     string          `json:"resource"`
	Version      uint64          `json:"version"`
	Reference    string          `json:"reference"`
	Files        uint64          `json:"files"`
	Bytes        uint64          `json:"bytes"`
	ArchiveBytes uint64          `json:"archive_bytes"`
	Skipped      []skippedReport `json:"skipped"`
	SkippedMore  int             `json:"skipped_more"`
}

type skippedReport struct {
	Path string `json:"path"`
	Why  string `json:"is"`
}

func uploadCommand(t terminal, o *options) *cobra.Command {
	reference := ""
	c := &cobra.Command{
		Use:     "upload RESOURCE DIR",
		Short:   "Send a folder as a new version of a resource",
		Long:    uploadHelp,
		Example: "  nervix --domain weather upload models ./models",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usage("upload takes a resource and a folder")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.domain == "" {
				return usage("upload needs --domain, because a resource belongs to one domain")
			}
			c, err := connect(cmd.Context(), t, *o)
			if err != nil {
				return err
			}
			defer func() { _ = c.Close() }()
			return upload(cmd.Context(), t, c, *o, client.UploadOptions{Domain: o.domain, Resource: args[0], Directory: args[1], Reference: reference})
		},
	}
	c.Flags().StringVar(&reference, "reference", "", "identity of an upload whose result is unknown")
	return c
}

// upload executes the command.
func upload(ctx context.Context, t terminal, n node, o options, u client.UploadOptions) error {
	p := printer{terminal: t, format: o.format}
	out, err := p.upload(ctx, n, u)
	var e *client.Error
	if errors.As(err, &e) && e.Reference != "" && !errors.Is(err, client.ErrUncertain) {
		e.Reference = "" // there is nothing to repeat
	}
	hint := fault.Lookup(fault.CodeOf(err)).Hint
	switch {
	case err == nil && o.format == formatJSONL:
		return writeLine(t.out, uploadReportOf(u, out))
	case err == nil:
		_, err := fmt.Fprintln(t.out, out.Version)
		return err
	case errors.Is(err, client.ErrUncertain):
		return exit(exitUncertain, "%v\n  hint: repeat the command with --reference %s to learn the version", err, e.Reference)
	case fault.Has(err, fault.ResourceFolder):
		return exit(exitUsage, "%v\n  hint: %s", err, hint)
	case errors.Is(err, client.ErrUpload) && hint != "":
		return exit(exitFailed, "%v\n  hint: %s", err, hint)
	case errors.Is(err, client.ErrCancelled):
		return exit(exitFailed, "%s\n  hint: %s", givenUp(u.Resource), uploadAgain)
	case errors.Is(err, client.ErrUpload), errors.Is(err, client.ErrRejected):
		return exit(exitFailed, "%v", err)
	case errors.Is(err, client.ErrAuthentication):
		return exit(exitAuthentication, "%v", err)
	}
	return exit(exitConnect, "%v\n  hint: %s", err, fault.Lookup(fault.CLIUnreachable).Hint)
}

// upload sends a folder, shows how far it is, and names what was left out.
func (p printer) upload(ctx context.Context, n node, u client.UploadOptions) (client.UploadOutcome, error) {
	show := newProgress(p.err, u.Resource)
	u.Progress = show.update
	var out client.UploadOutcome
	var err error
	if u.Directory, err = client.ExpandHome(u.Directory); err == nil {
		out, err = n.Upload(ctx, u)
	}
	show.end(err == nil)
	if err != nil {
		return out, err
	}
	for _, s := range out.Skipped {
		p.notef("left out %s: it is %s", quote(s.Path), s.Why)
	}
	if out.SkippedMore > 0 {
		p.notef("left out %d more entries that are neither files nor directories", out.SkippedMore)
	}
	return out, nil
}

// uploadAgain says what to do about an upload that was given up.
const uploadAgain = "send the folder again when you want it; it begins anew"

// givenUp says what became of an upload that was interrupted before the whole folder was sent.
func givenUp(resource string) string {
	return "interrupted: the upload to resource " + resource + " was given up, and no version was made; a number that it had is not used again"
}

// quote shows a path that may hold anything.
func quote(path string) string { return fmt.Sprintf("%q", path) }

func uploadReportOf(u client.UploadOptions, out client.UploadOutcome) uploadReport {
	r := uploadReport{Domain: u.Domain, Resource: u.Resource, Version: out.Version, Reference: out.Reference, Files: out.Files, Bytes: out.Bytes,
		ArchiveBytes: out.ArchiveBytes, Skipped: []skippedReport{}, SkippedMore: out.SkippedMore}
	for _, s := range out.Skipped {
		r.Skipped = append(r.Skipped, skippedReport(s))
	}
	return r
}

// reasonOf is the text of a failed upload without its code, which has a place of its own.
func reasonOf(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err.Error()
	}
	return strings.TrimSuffix(f.Error(), " ["+string(f.Code)+"]")
}

// upload executes UPLOAD RESOURCE of the text: the node does not know the folder.
func (b *batch) upload(ctx context.Context, statement int, s *ast.Upload) result {
	r := result{statement: statement, parsed: b.source.statements[statement-1]}
	refuse := func(code fault.Code, message string) result {
		r.disposition, r.exit = client.Failed, exitFailed
		r.diagnostics = b.source.locate(r.parsed, fault.Diagnostics{complaint(fault.StageAdmit, code, message)})
		return r
	}
	switch {
	case b.open:
		return refuse(fault.TransactionContent, "UPLOAD RESOURCE cannot be part of a transaction")
	case b.domain == "":
		return refuse(fault.DomainUnselected, "UPLOAD RESOURCE needs a domain, and none is selected")
	}
	u := client.UploadOptions{Domain: b.domain, Resource: string(s.Resource.Name), Directory: s.Directory.Value}
	out, err := b.print.upload(ctx, b.node, u)
	switch {
	case errors.Is(err, client.ErrUpload), fault.CodeOf(err) != "" && !errors.Is(err, client.ErrUncertain) && !errors.Is(err, client.ErrProtocol):
		var e *client.Error
		if errors.As(err, &e) {
			r.reference, e.Reference = e.Reference, ""
		}
		return refuse(fault.CodeOf(err), reasonOf(err))
	case errors.Is(err, client.ErrCancelled):
		r = refuse(fault.CLICancelled, givenUp(u.Resource))
		r.diagnostics[0].Hint, r.final = uploadAgain, true
		return r
	case err != nil:
		r.failed(err, ctx.Err() != nil)
		r.diagnostics = b.source.locate(r.parsed, r.diagnostics)
		r.final = r.final || ctx.Err() != nil
		return r
	}
	r.disposition, r.reference = client.Completed, out.Reference
	r.text = fmt.Sprintf("version %d of resource %s is complete: %s, %d bytes", out.Version, u.Resource, describe(int(out.Files), "file"), out.Bytes)
	if b.print.format == formatJSONL {
		data, err := json.Marshal(uploadReportOf(u, out))
		if err == nil {
			r.data = string(data)
		}
	}
	return r
}
