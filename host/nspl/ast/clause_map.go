// SPDX-License-Identifier: Apache-2.0

package ast

// Map is a string-keyed map such as CONFIG {..}, in written order.
type Map struct {
	Node
	Entries []MapEntry
}

// MapEntry is one `'key' = value`. The value is a string, an unsigned integer, a float or a boolean.
type MapEntry struct {
	Key   Text
	Value *Literal
}

// Find gives the first value of a key, nil if there is none.
func (m Map) Find(key string) *Literal {
	for _, e := range m.Entries {
		if e.Key.Value == key {
			return e.Value
		}
	}
	return nil
}
