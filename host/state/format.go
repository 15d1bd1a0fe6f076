// SPDX-License-Identifier: Apache-2.0

package state

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// FormatVersion is the version of the store as a whole, in its header. Keys and values of a namespace have versions of their own.
const FormatVersion = 1

var headerMagic = []byte("NVXSTATE")

// encodeHeader writes the header of docs/formats/state.md.
func encodeHeader(o Options) []byte {
	b := append([]byte(nil), headerMagic...)
	b = binary.LittleEndian.AppendUint32(b, FormatVersion)
	b = binary.LittleEndian.AppendUint64(b, uint64(o.Node))
	return append(b, o.Folder[:]...)
}

// checkHeader says whether this store is ours to open. A header may grow in later versions; the first twelve bytes never change.
func checkHeader(dir string, b []byte, o Options) error {
	if len(b) < 12 || !bytes.Equal(b[:8], headerMagic) {
		return damaged(dir, "its header is not readable", nil)
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v > FormatVersion {
		return fault.New(fault.DaemonNewer, "state.Open", ident.Ref{},
			"store "+dir+" has format "+strconv.FormatUint(uint64(v), 10)+", this version reads up to "+strconv.Itoa(FormatVersion), nil)
	}
	if len(b) != len(encodeHeader(o)) {
		return damaged(dir, "its header has a wrong length", nil)
	}
	if node := ident.Node(binary.LittleEndian.Uint64(b[12:])); node != o.Node {
		return fault.New(fault.DaemonForeign, "state.Open", ident.Ref{}, "store "+dir+" belongs to node "+node.String()+", this is "+o.Node.String(), nil)
	}
	if !bytes.Equal(b[20:36], o.Folder[:]) {
		return fault.New(fault.DaemonForeign, "state.Open", ident.Ref{}, "store "+dir+" belongs to another data folder", nil)
	}
	return nil
}

// inspect looks at the file names before Pebble does, because Pebble would start a new database beside the remains of a damaged one,
// and cannot go on from a creation that a power loss interrupted in the wrong place. It changes something only if mend is set; the
// caller then holds the lock.
func inspect(dir string, filesystem vfs.FS, mend bool) error {
	names, err := filesystem.List(dir)
	if err != nil {
		return unusable(dir, err)
	}
	var markers []string
	var data bool
	for _, n := range names {
		switch {
		case strings.HasPrefix(n, manifestMarker):
			markers = append(markers, n)
		case strings.HasPrefix(n, "marker.format-version."):
			version := n[strings.LastIndexByte(n, '.')+1:]
			if v, err := strconv.ParseUint(version, 10, 32); err == nil && pebble.FormatMajorVersion(v) > formatMajor {
				return fault.New(fault.DaemonNewer, "state.Open", ident.Ref{}, "store "+dir+" has files of Pebble format "+version+", this version reads up to "+formatMajor.String(), nil)
			}
		case strings.HasSuffix(n, ".sst") || strings.HasSuffix(n, ".log") || strings.HasSuffix(n, ".blob"):
			data = true
		case n == "LOCK" || strings.HasPrefix(n, "MANIFEST-") || strings.HasPrefix(n, "OPTIONS-") || strings.HasSuffix(n, ".dbtmp"):
		default:
			return fault.New(fault.DaemonForeign, "state.Open", ident.Ref{}, "folder "+dir+" is no store: it holds "+strconv.Quote(n), nil)
		}
	}
	if data && len(markers) == 0 {
		return damaged(dir, "its manifest marker is missing", nil)
	}
	if !data && mend {
		return beginAgain(dir, filesystem, names, markers)
	}
	return nil
}

const manifestMarker = "marker.manifest."

// beginAgain is for a store that holds neither table nor log, so nothing was ever promised. Its manifest and the marker that names it
// become durable together, and a power loss may keep the marker alone; without the marker Pebble creates the store as if for the first time.
func beginAgain(dir string, filesystem vfs.FS, names, markers []string) error {
	for _, m := range markers {
		_, manifest, _ := strings.Cut(m[len(manifestMarker):], ".")
		if slices.Contains(names, manifest) {
			continue
		}
		if err := filesystem.Remove(filesystem.PathJoin(dir, m)); err != nil {
			return unusable(dir, err)
		}
	}
	return nil
}

// openError turns Pebble's refusal into a typed one.
func openError(dir string, err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) && !errors.Is(err, fs.ErrNotExist) {
		return unusable(dir, err)
	}
	return damaged(dir, "it cannot be opened", err)
}

func damaged(dir, why string, cause error) error {
	return fault.New(fault.DaemonDamaged, "state.Open", ident.Ref{}, "store "+dir+" is damaged: "+why, cause)
}

func unusable(dir string, cause error) error {
	return fault.New(fault.StateFailed, "state.Open", ident.Ref{}, "store "+dir+" cannot be used", cause)
}
