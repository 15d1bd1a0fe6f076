// SPDX-License-Identifier: Apache-2.0

package model

import "github.com/nervix-go/nervix/host/kernel/ident"

// Client is the plan of a client: how to reach an external system.
type Client struct {
	Ref         ident.Ref
	Fingerprint Fingerprint
	// Kind is the connector kind, lower-case, for example `file`.
	Kind string
	// Config has the values of CONFIG as text: strings as they are, numbers as they were written, TRUE and FALSE in lower case.
	Config map[string]string
}
