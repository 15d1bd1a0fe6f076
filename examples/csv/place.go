// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nervix-go/nervix/plugins/sdk"
)

// place is a position: where a row starts and ends in bytes, and the line it starts on.
type place struct{ start, end, line int64 }

// bytes is the form the host stores: consecutive little-endian int64 values, as the descriptor names them.
func (p place) bytes() []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(p.start))
	b = binary.LittleEndian.AppendUint64(b, uint64(p.end))
	return binary.LittleEndian.AppendUint64(b, uint64(p.line))
}

// parsePlace reads a position; it came back from the host, and may be of another connector.
func parsePlace(b []byte) (place, bool) {
	if len(b) != 24 {
		return place{}, false
	}
	n := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }
	p := place{n(0), n(1), n(2)}
	return p, 0 <= p.start && p.start <= p.end && p.line > 0
}

// openBelow opens a file below the client's root, which must lie below the node's file root. What a retry cannot mend is definitive.
func openBelow(client, options map[string]string, env sdk.Environment, flag int) (*os.File, string, error) {
	if env.FileRoot == "" {
		return nil, "", sdk.Definitive(fmt.Errorf("this node has no file root"))
	}
	abs := filepath.Join(client["root"], options["path"])
	name, err := filepath.Rel(env.FileRoot, abs)
	if err != nil {
		return nil, "", sdk.Definitive(fmt.Errorf("%s is not below the file root of the node", abs))
	}
	root, err := os.OpenRoot(env.FileRoot)
	if err != nil {
		return nil, "", err
	}
	defer root.Close()
	if flag&os.O_CREATE != 0 {
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return nil, "", sdk.Definitive(err)
		}
	}
	f, err := root.OpenFile(name, flag, 0o644)
	if err != nil {
		return nil, "", sdk.Definitive(err) // nothing is there, or the path leaves the root
	}
	return f, abs, nil
}
