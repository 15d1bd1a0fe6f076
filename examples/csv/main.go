// SPDX-License-Identifier: Apache-2.0

// Command csv is a first connector: rows of CSV files in, lines out. docs/connectors.md walks through it.
//
// It calls itself `file`, so that a pipeline reaches it with TYPE FILE when it lies in the folder of connectors; the language of this version
// knows no other type.
package main

import (
	"github.com/nervix-go/nervix/plugins/descriptor"
	"github.com/nervix-go/nervix/plugins/sdk"
)

func main() { sdk.Serve(describe()) }

// describe says what this connector is and how its two sides are made.
func describe() sdk.Connector {
	path := []descriptor.Option{{Name: "path", Type: descriptor.TypePath, Required: true, Help: "relative to the client's root"}}
	return sdk.Connector{
		Descriptor: descriptor.Descriptor{
			Kind:     "file",
			Protocol: descriptor.Range{Min: descriptor.Protocol, Max: descriptor.Protocol},
			Client: []descriptor.Option{
				{Name: "root", Type: descriptor.TypePath, Required: true, Help: "absolute directory at or below the node's file root"},
			},
			Source: &descriptor.Source{
				Options: path,
				Metadata: []descriptor.Column{ // metadata.path, metadata.line and metadata.offset of an ingestor
					{Name: "path", Type: descriptor.ColumnString},
					{Name: "line", Type: descriptor.ColumnI64},
					{Name: "offset", Type: descriptor.ColumnI64},
				},
				Position: []string{"start", "offset", "line"},
				Finite:   true,
			},
			Sink: &descriptor.Sink{Options: path},
		},
		Source: func() sdk.Source { return &source{} },
		Sink:   func() sdk.Sink { return &sink{} },
	}
}

// Indexes of the metadata columns that change from row to row.
const (
	metaLine   = 1
	metaOffset = 2
)
