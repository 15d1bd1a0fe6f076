// SPDX-License-Identifier: Apache-2.0

package describe

import "github.com/nervix-go/nervix/host/kernel/ident"

// IngestorEntry is one line of SHOW INGESTORS.
type IngestorEntry struct {
	Name ident.Name
	// Owner is the node name of the owner, empty when the ingestor is not scheduled.
	Owner string
	// Status is empty when the ingestor does not run.
	Status     IngestorStatus
	Unresolved uint64
}

// Ingestors renders SHOW INGESTORS; the caller sorts the list by name.
func Ingestors(list []IngestorEntry) Inspection {
	made := make(rows, 0, len(list))
	for _, e := range list {
		made = append(made, record{{"name", string(e.Name)}, {"owner", optional(e.Owner)}, {"state", statusWord(e.Status)}, {"unresolved", e.Unresolved}})
	}
	return Inspection{section{{"ingestors", made}}}
}
