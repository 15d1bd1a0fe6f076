// SPDX-License-Identifier: Apache-2.0

package arrowipc

import (
	"github.com/apache/arrow-go/v18/arrow"
)

// shape is the buffer layout of a column.
type shape uint8

const (
	shapeFixed  shape = iota // validity, values of width bytes
	shapeBits                // validity, one bit a value
	shapeBytes               // validity, int32 offsets, bytes
	shapeWide                // validity, int64 offsets, bytes
	shapeList                // validity, int32 offsets; one child
	shapeRuns                // validity; one child of width values a row (fixed size list)
	shapeStruct              // validity; children of the same length
)

// layout is what the reader has to know about one field, decided once per schema.
type layout struct {
	dtype    arrow.DataType
	name     string
	shape    shape
	width    int
	text     bool
	nullable bool
	children []layout
}

// buffers is the number of buffers the field itself has in a message.
func (l *layout) buffers() int {
	switch l.shape {
	case shapeBytes, shapeWide:
		return 3
	case shapeRuns, shapeStruct:
		return 1
	default:
		return 2
	}
}

// count adds the nodes and buffers of the field and its children.
func (l *layout) count(nodes, buffers *int) {
	*nodes++
	*buffers += l.buffers()
	for i := range l.children {
		l.children[i].count(nodes, buffers)
	}
}

func layoutOf(f arrow.Field, depth int) (layout, error) {
	l := layout{dtype: f.Type, name: f.Name, nullable: f.Nullable}
	if depth > maxDepth {
		return l, refused("column " + f.Name + " is nested too deeply")
	}
	switch t := f.Type.(type) {
	case *arrow.BooleanType:
		l.shape = shapeBits
	case *arrow.StringType:
		l.shape, l.text = shapeBytes, true
	case *arrow.BinaryType:
		l.shape = shapeBytes
	case *arrow.LargeStringType:
		l.shape, l.text = shapeWide, true
	case *arrow.LargeBinaryType:
		l.shape = shapeWide
	case *arrow.ListType:
		l.shape = shapeList
		return l.nest(depth, t.ElemField())
	case *arrow.FixedSizeListType:
		l.shape, l.width = shapeRuns, int(t.Len())
		return l.nest(depth, t.ElemField())
	case *arrow.StructType:
		l.shape = shapeStruct
		return l.nest(depth, t.Fields()...)
	case *arrow.DictionaryType:
		return l, refused("column " + f.Name + " is dictionary encoded")
	case arrow.ExtensionType:
		return l, refused("column " + f.Name + " has an extension type")
	case arrow.FixedWidthDataType:
		if t.BitWidth() < 8 || t.BitWidth()%8 != 0 {
			return l, refused("column " + f.Name + " has type " + t.String())
		}
		l.width = t.BitWidth() / 8
	default:
		return l, refused("column " + f.Name + " has type " + f.Type.String())
	}
	return l, nil
}

func (l layout) nest(depth int, fields ...arrow.Field) (layout, error) {
	for _, f := range fields {
		c, err := layoutOf(f, depth+1)
		if err != nil {
			return l, err
		}
		l.children = append(l.children, c)
	}
	return l, nil
}
