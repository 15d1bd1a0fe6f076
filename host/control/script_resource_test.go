// SPDX-License-Identifier: Apache-2.0

package control_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"

	"github.com/nervix-go/nervix/host/control"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/registry"
)

// resource runs the directives for uploads and modules.
func (s *script) resource(d *datadriven.TestData) (string, bool) {
	switch d.Cmd {
	case "admit":
		got, err := s.control.AdmitUpload(s.t.Context(), s.upload(d))
		if err != nil {
			return refusal(err), true
		}
		return fmt.Sprintf("version %d, completed %v, digest %q", got.Version, got.Completed, strings.TrimRight(string(got.Digest[:]), "\x00")), true
	case "complete":
		done := control.UploadedVersion{Version: number(d, "version"), ArchiveBytes: 1536, Bytes: 9, Files: 1}
		copy(done.Digest[:], word(d, "bytes", ""))
		return refusal(s.control.CompleteUpload(s.t.Context(), s.upload(d), done)), true
	case "fail":
		return refusal(s.control.FailUpload(s.t.Context(), s.upload(d), number(d, "version"))), true
	case "modules": // what was judged since the last time
		s.node.mu.Lock()
		defer s.node.mu.Unlock()
		out := strings.Join(s.node.prepared, "\n")
		s.node.prepared = nil
		return out, true
	case "module-fault", "module-diagnostics", "module-fits":
		s.node.mu.Lock()
		defer s.node.mu.Unlock()
		switch d.Cmd {
		case "module-fault":
			cause := errors.New("line one\nline two of " + d.Input)
			s.node.notFit = fault.New(fault.Code(word(d, "code", "")), "wasm.Prepare", ident.Ref{Domain: "d", Kind: ident.KindWASM, Name: "p"}, "the module is unusable", cause)
		case "module-diagnostics":
			s.node.notFit = fault.Diagnostics{{Stage: fault.StagePlan, Code: fault.NodeFailed, Message: "one"}, {Stage: fault.StagePlan, Code: fault.NodeFailed, Message: "two"}}
		default:
			s.node.notFit = nil
		}
		return "ok", true
	}
	return "", false
}

func (s *script) upload(d *datadriven.TestData) control.UploadRequest {
	u := control.UploadRequest{
		User: ident.Name(word(d, "user", "ann")), Domain: ident.Name(word(d, "domain", "d")), Resource: ident.Name(word(d, "resource", "m")),
	}
	if n := number(d, "upload"); n > 0 {
		u.Reference = ident.NewReference(epoch/1e6, [10]byte{9: byte(n)})
	}
	return u
}

func refusal(err error) string {
	if err == nil {
		return "ok"
	}
	return fmt.Sprintf("refused: %v\nhint: %s", err, fault.Lookup(fault.CodeOf(err)).Hint)
}

func word(d *datadriven.TestData, name, fallback string) string {
	for _, a := range d.CmdArgs {
		if a.Key == name {
			return strings.Join(a.Vals, ",")
		}
	}
	return fallback
}

func number(d *datadriven.TestData, name string) uint64 {
	n, _ := strconv.ParseUint(word(d, name, "0"), 10, 64)
	return n
}

// versions lists what a resource has.
func versions(d *registry.Domain, k registry.Key) string {
	if k.Kind != ident.KindResource {
		return ""
	}
	text := ""
	for _, v := range d.Resources[k.Name].Versions {
		text += fmt.Sprintf(" %d %s", v.Number, v.State)
	}
	return text
}
