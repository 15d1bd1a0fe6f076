// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

// reflected is the part of the compiler's reflection schema that the tables need.
type reflected struct {
	Objects []object `json:"objects"`
	Enums   []enum   `json:"enums"`
}

type object struct {
	Name       string      `json:"name"`
	Fields     []field     `json:"fields"`
	IsStruct   bool        `json:"is_struct"`
	MinAlign   int         `json:"minalign"`
	ByteSize   int         `json:"bytesize"`
	Attributes []attribute `json:"attributes"`
}

type field struct {
	Name           string      `json:"name"`
	Type           fieldType   `json:"type"`
	ID             int         `json:"id"`
	DefaultInteger int64       `json:"default_integer"`
	DefaultReal    float64     `json:"default_real"`
	Deprecated     bool        `json:"deprecated"`
	Required       bool        `json:"required"`
	Optional       bool        `json:"optional"`
	Attributes     []attribute `json:"attributes"`
}

type fieldType struct {
	BaseType string `json:"base_type"`
	Element  string `json:"element"`
	Index    *int   `json:"index"`
}

type enum struct {
	Name       string      `json:"name"`
	Values     []enumValue `json:"values"`
	IsUnion    bool        `json:"is_union"`
	Attributes []attribute `json:"attributes"`
}

type enumValue struct {
	Name      string    `json:"name"`
	Value     int64     `json:"value"`
	UnionType fieldType `json:"union_type"`
}

type attribute struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

func find(list []attribute, key string) (string, bool) {
	for _, a := range list {
		if a.Key == key {
			return a.Value, true
		}
	}
	return "", false
}

// scalarSizes are the sizes of the scalar base types; alignment equals size.
var scalarSizes = map[string]int{
	"Bool": 1, "Byte": 1, "UByte": 1, "Short": 2, "UShort": 2, "Int": 4, "UInt": 4, "Float": 4, "Long": 8, "ULong": 8, "Double": 8,
}

// splitName separates the namespace from the type name.
func splitName(full string) (namespace, name string, err error) {
	i := strings.LastIndexByte(full, '.')
	if i < 0 || strings.Contains(full[:i], ".") {
		return "", "", fmt.Errorf("type %s: a schema has exactly one namespace of one word", full)
	}
	return full[:i], full[i+1:], nil
}
