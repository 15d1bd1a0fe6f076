// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/plugins/descriptor"
)

// Installed is one connector of the connectors directory.
type Installed struct {
	Descriptor descriptor.Descriptor
	// Path is the absolute path of the binary; empty for connectors without a process.
	Path string
}

// Discover reads a connectors directory: <kind> and <kind>.json. A damaged descriptor, a missing binary or a kind that does not match
// its file name is a problem of that connector only; the others are returned beside the problems. A missing directory holds nothing.
func Discover(dir string) (map[string]Installed, []error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, []error{err}
	}
	entries, err := os.ReadDir(abs)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []error{err}
	}
	found := make(map[string]Installed)
	var problems []error
	for _, e := range entries {
		kind, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || e.IsDir() {
			continue
		}
		c, err := load(filepath.Join(abs, e.Name()), filepath.Join(abs, kind), kind)
		if err != nil {
			problems = append(problems, fault.New(fault.PluginDescriptor, "supervise.Discover", ident.Ref{}, "connector "+kind, err))
			continue
		}
		found[kind] = c
	}
	return found, problems
}

func load(file, binary, kind string) (Installed, error) {
	f, err := os.Open(file)
	if err != nil {
		return Installed{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, descriptor.MaxBytes+1))
	if err != nil {
		return Installed{}, err
	}
	d, err := descriptor.Parse(b)
	if err != nil {
		return Installed{}, err
	}
	if d.Kind != kind {
		return Installed{}, fmt.Errorf("%s describes the kind %q", filepath.Base(file), d.Kind)
	}
	info, err := os.Stat(binary)
	if err != nil {
		return Installed{}, fmt.Errorf("binary: %w", err)
	}
	if info.IsDir() || info.Mode()&0o111 == 0 {
		return Installed{}, fmt.Errorf("binary: %s is not executable", binary)
	}
	return Installed{Descriptor: d, Path: binary}, nil
}

// verify compares the binary with the hash of its descriptor. It runs before each start.
func (c Installed) verify() error {
	f, err := os.Open(c.Path)
	if err != nil {
		return fault.New(fault.PluginStart, "supervise.verify", ident.Ref{}, "connector "+c.Descriptor.Kind, err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return fault.New(fault.PluginStart, "supervise.verify", ident.Ref{}, "connector "+c.Descriptor.Kind, err)
	}
	if hex.EncodeToString(h.Sum(nil)) != c.Descriptor.SHA256 {
		return fault.New(fault.PluginChecksum, "supervise.verify", ident.Ref{},
			"the binary "+c.Path+" is not the one that its descriptor "+filepath.Base(c.Path)+".json names", nil)
	}
	return nil
}

// kindsOf lists kinds in order, for messages.
func kindsOf(m map[string]Installed) string {
	kinds := make([]string, 0, len(m))
	for k := range m {
		kinds = append(kinds, k)
	}
	sort.Strings(kinds)
	if len(kinds) == 0 {
		return "none"
	}
	return strings.Join(kinds, ", ")
}

func protocolText(d descriptor.Descriptor) string {
	return fmt.Sprintf("connector %s speaks plugin protocol %d..%d, this host speaks %d", d.Kind, d.Protocol.Min, d.Protocol.Max, descriptor.Protocol)
}
