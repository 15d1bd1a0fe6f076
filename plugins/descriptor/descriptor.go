// SPDX-License-Identifier: Apache-2.0

// Package descriptor is what a connector says about itself without being started: the file <kind>.json beside its binary (nspl 14.6).
// Statements are checked against it. The connector prints it (`<binary> --descriptor`), with the SHA-256 of the binary in it, so the
// build only stores the output. docs/formats/plugin.md lists the fields.
package descriptor

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Protocol is the version of the plugin protocol of this tree.
const Protocol = 1

// Descriptor describes one connector kind.
type Descriptor struct {
	Kind     string `json:"kind"`
	Protocol Range  `json:"protocol"`
	// Client is the schema of the CONFIG of a client of this kind, for source and sink alike.
	Client []Option `json:"client"`
	Source *Source  `json:"source,omitempty"`
	Sink   *Sink    `json:"sink,omitempty"`
	// SHA256 of the binary, lower-case hex.
	SHA256 string `json:"sha256"`
}

// Range is the protocol versions a connector speaks.
type Range struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

// Source is the source side of a connector.
type Source struct {
	Options  []Option `json:"options"`
	Metadata []Column `json:"metadata"`
	// Position names the fields of a position: consecutive little-endian int64 values.
	Position []string `json:"position"`
	// Finite says that the source ends by itself.
	Finite bool `json:"finite"`
}

// Sink is the sink side of a connector.
type Sink struct {
	Options []Option `json:"options"`
}

// Option is one key of CONFIG or OPTIONS.
type Option struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // string, uint, bool, path
	Required bool   `json:"required,omitempty"`
	Default  string `json:"default,omitempty"`
	Secret   bool   `json:"secret,omitempty"`
	Help     string `json:"help,omitempty"`
}

// Column is one metadata column.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"` // STRING or I64
}

// The types of options and columns.
const (
	TypeString = "string"
	TypeUint   = "uint"
	TypeBool   = "bool"
	TypePath   = "path"

	ColumnString = "STRING"
	ColumnI64    = "I64"
)

// MaxBytes is the largest descriptor file that is read.
const MaxBytes = 1 << 20

var kindForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,62}$`)

// Parse reads a descriptor file and checks it. Unknown fields are ignored: they may belong to a newer version.
func Parse(b []byte) (Descriptor, error) {
	var d Descriptor
	if len(b) > MaxBytes {
		return d, fmt.Errorf("the descriptor has %d bytes, the limit is %d", len(b), MaxBytes)
	}
	if err := json.Unmarshal(b, &d); err != nil {
		return d, fmt.Errorf("the descriptor is not valid JSON: %w", err)
	}
	if err := d.Check(); err != nil {
		return d, err
	}
	if sum, err := hex.DecodeString(d.SHA256); err != nil || len(sum) != 32 {
		return d, fmt.Errorf("the descriptor of %q has no valid sha256", d.Kind)
	}
	return d, nil
}

// Check verifies everything but the hash.
func (d Descriptor) Check() error {
	switch {
	case !kindForm.MatchString(d.Kind):
		return fmt.Errorf("kind %q is not a lower-case name", d.Kind)
	case d.Protocol.Min < 0 || d.Protocol.Max < d.Protocol.Min:
		return fmt.Errorf("the protocol range %d..%d of %q is empty", d.Protocol.Min, d.Protocol.Max, d.Kind)
	case d.Source == nil && d.Sink == nil:
		return fmt.Errorf("%q is neither source nor sink", d.Kind)
	}
	lists := [][]Option{d.Client}
	if d.Source != nil {
		lists = append(lists, d.Source.Options)
		for _, c := range d.Source.Metadata {
			if c.Type != ColumnString && c.Type != ColumnI64 {
				return fmt.Errorf("metadata column %q of %q has type %q", c.Name, d.Kind, c.Type)
			}
		}
	}
	if d.Sink != nil {
		lists = append(lists, d.Sink.Options)
	}
	for _, list := range lists {
		for _, o := range list {
			if o.Type != TypeString && o.Type != TypeUint && o.Type != TypeBool && o.Type != TypePath {
				return fmt.Errorf("option %q of %q has type %q", o.Name, d.Kind, o.Type)
			}
		}
	}
	return nil
}

// Speaks says whether the connector speaks the protocol of this tree.
func (d Descriptor) Speaks() bool { return d.Protocol.Min <= Protocol && Protocol <= d.Protocol.Max }

// CheckOptions verifies given keys and values against a schema and fills in defaults. The result is a new map. Errors name the key and
// never the value, which may be a secret.
func CheckOptions(schema []Option, given map[string]string) (map[string]string, error) {
	out := make(map[string]string, len(schema))
	known := make([]string, 0, len(schema))
	for _, o := range schema {
		known = append(known, o.Name)
		v, ok := given[o.Name]
		switch {
		case !ok && o.Required:
			return nil, fmt.Errorf("%s is required", o.Name)
		case !ok && o.Default == "":
			continue
		case !ok:
			v = o.Default
		}
		if err := o.check(v); err != nil {
			return nil, err
		}
		out[o.Name] = v
	}
	for k := range given {
		if _, ok := out[k]; !ok {
			return nil, fmt.Errorf("%s is not known, expected one of: %s", k, strings.Join(known, ", "))
		}
	}
	return out, nil
}

func (o Option) check(v string) error {
	switch o.Type {
	case TypeUint:
		if _, err := strconv.ParseUint(v, 10, 63); err != nil {
			return fmt.Errorf("%s must be a whole number", o.Name)
		}
	case TypeBool:
		if v != "true" && v != "false" {
			return fmt.Errorf("%s must be true or false", o.Name)
		}
	case TypePath:
		if v == "" || strings.ContainsRune(v, 0) {
			return fmt.Errorf("%s must be a path", o.Name)
		}
	}
	return nil
}

// Marshal is the file form, indented, with a line end.
func (d Descriptor) Marshal() ([]byte, error) {
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}
