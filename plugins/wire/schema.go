// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/nervix-go/nervix/plugins/descriptor"
)

// Indexes of the two schemas a source sends: rows that are all good go without the error column.
const (
	SchemaGood   = 0
	SchemaErrors = 1
)

// SinkSchema is the schema of batches to a sink.
var SinkSchema = arrow.NewSchema([]arrow.Field{
	{Name: "id", Type: arrow.PrimitiveTypes.Uint64},
	{Name: "payload", Type: arrow.BinaryTypes.Binary},
}, nil)

// SourceSchema is the schema of batches from a source: payload, position, with errors the error column, then the metadata columns that
// are not constant.
func SourceSchema(metadata []descriptor.Column, constant func(name string) bool, errors bool) *arrow.Schema {
	fields := []arrow.Field{
		{Name: "payload", Type: arrow.BinaryTypes.Binary},
		{Name: "position", Type: arrow.BinaryTypes.Binary},
	}
	if errors {
		fields = append(fields, arrow.Field{Name: "error", Type: arrow.BinaryTypes.String, Nullable: true})
	}
	for _, c := range metadata {
		if !constant(c.Name) {
			fields = append(fields, arrow.Field{Name: c.Name, Type: ColumnType(c.Type)})
		}
	}
	return arrow.NewSchema(fields, nil)
}

// ColumnType is the Arrow type of a metadata column.
func ColumnType(t string) arrow.DataType {
	if t == descriptor.ColumnI64 {
		return arrow.PrimitiveTypes.Int64
	}
	return arrow.BinaryTypes.String
}
