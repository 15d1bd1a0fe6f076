// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"encoding/hex"
	"time"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

// ResourceVersion is one version of a resource (nspl 13.1).
type ResourceVersion struct {
	Number uint64
	// State is uploading, completed or failed. What follows Owner is known of completed versions only.
	State    string
	Owner    ident.Name
	Admitted vtime.UTC

	Completed    vtime.UTC
	Digest       [32]byte
	ArchiveBytes uint64
	Bytes        uint64
	Files        uint64
	// Problem is why a failed version failed, empty for others.
	Problem string
}

// ResourceReplica is a completed version on one node: State is installed, missing, damaged or unreadable, and Problem why it is not the
// first.
type ResourceReplica struct {
	Version     uint64
	Node        string
	Incarnation ident.Incarnation
	State       string
	Problem     string
}

// ResourceUsage is a definition that binds a version.
type ResourceUsage struct {
	Kind    ident.Kind
	Name    ident.Name
	Version uint64
	File    string
}

// ResourceObservation is what is known of a resource: from the committed state, from the definitions of its domain, and from the node that
// answers. Latest is 0 when no version is completed.
type ResourceObservation struct {
	Latest   uint64
	Versions []ResourceVersion
	Replicas []ResourceReplica
	Usages   []ResourceUsage
}

// Resource renders DESCRIBE RESOURCE. The lists are in the order in which they are shown; of the answer to VERSION n they have only what
// belongs to that version.
func Resource(name ident.Name, seen ResourceObservation) Inspection {
	latest := any(nil)
	if seen.Latest > 0 {
		latest = seen.Latest
	}
	versions := make(rows, 0, len(seen.Versions))
	for _, v := range seen.Versions {
		versions = append(versions, v.record())
	}
	replicas := make(rows, 0, len(seen.Replicas))
	for _, r := range seen.Replicas {
		replicas = append(replicas, record{
			{"version", r.Version}, {"node", r.Node}, {"incarnation", uint64(r.Incarnation)}, {"state", r.State}, {"error", optional(r.Problem)},
		})
	}
	usages := make(rows, 0, len(seen.Usages))
	for _, u := range seen.Usages {
		one := subject(ident.Ref{Kind: u.Kind, Name: u.Name})[1:] // the domain is that of the resource
		usages = append(usages, append(one, pair{"version", u.Version}, pair{"file", u.File}))
	}
	return Inspection{section{
		{"resource", string(name)},
		{"kind", ident.KindResource.String()},
		{"latest", latest},
		{"versions", versions},
		{"replicas", replicas},
		{"usages", usages},
	}}
}

// record has the same members for every version; those that are not known are not available.
func (v ResourceVersion) record() record {
	r := record{{"version", v.Number}, {"state", v.State}}
	if v.State != "completed" {
		r = append(r, pair{"checksum", nil}, pair{"archive_bytes", nil}, pair{"bytes", nil}, pair{"entries", nil})
	} else {
		r = append(r, pair{"checksum", "blake3:" + hex.EncodeToString(v.Digest[:])}, pair{"archive_bytes", v.ArchiveBytes}, pair{"bytes", v.Bytes},
			pair{"entries", v.Files})
	}
	return append(r, pair{"owner", string(v.Owner)}, pair{"admitted", moment(v.Admitted)}, pair{"completed", moment(v.Completed)}, pair{"error", optional(v.Problem)})
}

// moment is a time of a person's calendar, nil for none.
func moment(at vtime.UTC) any {
	if at == (vtime.UTC{}) {
		return nil
	}
	return time.Unix(0, at.NS()).UTC().Format(time.RFC3339Nano)
}
