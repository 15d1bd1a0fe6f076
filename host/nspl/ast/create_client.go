// SPDX-License-Identifier: Apache-2.0

package ast

import "github.com/nervix-go/nervix/host/kernel/ident"

// ClientType is the TYPE word of a client, upper-case.
type ClientType string

// The client types.
const (
	ClientFile ClientType = "FILE"
)

// CreateClient is `CREATE CLIENT name TYPE type CONFIG map` (nspl 13.2).
type CreateClient struct {
	Create
	Type   ClientType
	Config Map
}

// DefKind is KindClient.
func (*CreateClient) DefKind() ident.Kind { return ident.KindClient }

// References is empty: a client depends on no other object.
func (*CreateClient) References() []Reference { return nil }
