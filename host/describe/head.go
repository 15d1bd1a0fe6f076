// SPDX-License-Identifier: Apache-2.0

package describe

import (
	"strings"

	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Placement says where a runtime node is executed.
type Placement struct {
	// Owner is the node name of the primary owner, empty when it is not scheduled.
	Owner string
	// Replicas are the names of the state replicas.
	Replicas []string
}

// head is the common head of DESCRIBE (nspl 23.2).
func head(ref ident.Ref, at Placement) section {
	return section{
		{kindWord(ref.Kind), string(ref.Name)},
		{"kind", ref.Kind.String()},
		{"owner", optional(at.Owner)},
		{"replicas", replicas(at)},
	}
}

// replicas is nil when there are none, so that both forms say `not available` instead of an empty list.
func replicas(at Placement) any {
	if len(at.Replicas) == 0 {
		return nil
	}
	return words(at.Replicas)
}

// kindWord is the kind in lower case, for example `wasm processor`.
func kindWord(kind ident.Kind) string { return strings.ToLower(kind.String()) }
