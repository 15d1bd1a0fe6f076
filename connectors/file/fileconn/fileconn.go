// SPDX-License-Identifier: Apache-2.0

// Package fileconn is the source and the sink of the FILE connector (nspl 14.6). It is apart from the command so that the conformance
// suite and graph tests run it without a process.
//
// Source: one payload a line; position = start, end and number of the line. Sink: one line a payload, one data sync a publish. Both stay
// below their root, which stays below the node's file root. Neither keeps durable state of its own.
package fileconn

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/vtime"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/plugins/descriptor"
	"github.com/nervix-go/nervix/plugins/sdk"
)

// Kind is the connector kind.
const Kind = "file"

// defaultMaxLine is the default of max_line_bytes.
const defaultMaxLine = 16 << 20

// Connector describes and makes the FILE connector.
func Connector() sdk.Connector { return connectorAt(osclock.Mono) }

// connectorAt takes the clock that tells when a renamed file has been quiet for long.
func connectorAt(now func() vtime.Mono) sdk.Connector {
	path := descriptor.Option{Name: "path", Type: descriptor.TypePath, Required: true, Help: "relative to the client's root"}
	seen := &endings{}
	return sdk.Connector{
		Descriptor: descriptor.Descriptor{
			Kind:     Kind,
			Protocol: descriptor.Range{Min: 1, Max: 1},
			Client: []descriptor.Option{
				{Name: "root", Type: descriptor.TypePath, Required: true, Help: "absolute directory at or below the node's file root"},
				{Name: "max_line_bytes", Type: descriptor.TypeUint, Default: strconv.Itoa(defaultMaxLine), Help: "a longer line is a decode failure"},
			},
			Source: &descriptor.Source{
				Options: []descriptor.Option{
					path,
					{Name: "follow", Type: descriptor.TypeBool, Default: "false", Help: "wait for the file to grow, and go on with its successor when it was renamed"},
				},
				Metadata: []descriptor.Column{
					{Name: "path", Type: descriptor.ColumnString},
					{Name: "line", Type: descriptor.ColumnI64},
					{Name: "offset", Type: descriptor.ColumnI64},
				},
				Position: []string{"start", "offset", "line"},
				Finite:   true,
			},
			Sink: &descriptor.Sink{Options: []descriptor.Option{path}},
		},
		Source: func() sdk.Source { return &source{seen: seen, now: now} },
		Sink:   func() sdk.Sink { return &sink{} },
	}
}

// Indexes of the metadata columns.
const (
	metaPath = iota
	metaLine
	metaOffset
)

// openRoot opens the client's root and confines everything to it. The error is definitive.
func openRoot(client map[string]string, env sdk.Environment) (*os.Root, string, error) {
	root := client["root"]
	if !filepath.IsAbs(root) {
		return nil, "", sdk.Definitive(fmt.Errorf("root %q is not an absolute path", root))
	}
	if env.FileRoot == "" {
		return nil, "", sdk.Definitive(errors.New("this node has no file root; files are not allowed"))
	}
	limit, err := filepath.EvalSymlinks(env.FileRoot)
	if err != nil {
		return nil, "", sdk.Definitive(fmt.Errorf("the node's file root: %w", err))
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return nil, "", sdk.Definitive(fmt.Errorf("root: %w", err))
	}
	if !within(limit, real) {
		return nil, "", sdk.Definitive(fmt.Errorf("root %s is not at or below the node's file root %s", root, env.FileRoot))
	}
	r, err := os.OpenRoot(real)
	if err != nil {
		return nil, "", sdk.Definitive(fmt.Errorf("root: %w", err))
	}
	return r, real, nil
}

func within(limit, path string) bool {
	rel, err := filepath.Rel(limit, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// cleanPath refuses what can never stay below a root; links are os.Root's part.
func cleanPath(p string) (string, error) {
	if p == "" || filepath.IsAbs(p) {
		return "", sdk.Definitive(fmt.Errorf("path %q is not relative to root", p))
	}
	for _, part := range strings.Split(filepath.ToSlash(p), "/") {
		if part == ".." {
			return "", sdk.Definitive(fmt.Errorf("path %q leaves its root", p))
		}
	}
	return filepath.Clean(p), nil
}
