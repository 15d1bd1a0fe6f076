// SPDX-License-Identifier: Apache-2.0

package datadir

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/ident"
)

// FormatVersion is the version of the data folder that this program writes. It reads this version and no other.
const FormatVersion = 1

// magic is the first line of the identity file.
const magic = "nervix data folder"

// Identity says whose data a folder holds. It is written once.
type Identity struct {
	Node ident.Node
	// Cluster is a UUIDv7 made with the cluster.
	Cluster ident.Reference
}

// Reasons why an identity or incarnation cannot be used.
var (
	errMagic   = errors.New("the first line is not `" + magic + "`")
	errNewer   = errors.New("a newer format")
	errDamaged = errors.New("damaged")
)

// encodeIdentity writes lines of words; the last line is the SHA-256 of the others.
func encodeIdentity(id Identity) []byte {
	return seal(fmt.Sprintf("%s\nformat %d\nnode %d\ncluster %s\n", magic, FormatVersion, id.Node, id.Cluster))
}

func decodeIdentity(content []byte) (Identity, error) {
	text := string(content)
	first, rest, _ := strings.Cut(text, "\n")
	if first != magic {
		return Identity{}, errMagic
	}
	// A newer version may seal its lines in another way, so the version comes before the seal.
	second, _, _ := strings.Cut(rest, "\n")
	version, err := strconv.Atoi(strings.TrimPrefix(second, "format "))
	if err != nil {
		return Identity{}, fmt.Errorf("%w: no format version", errDamaged)
	}
	if version > FormatVersion {
		return Identity{}, fmt.Errorf("%w: version %d, this program knows %d", errNewer, version, FormatVersion)
	}
	lines, err := unseal(content)
	if err != nil {
		return Identity{}, err
	}
	if version != FormatVersion || len(lines) != 4 {
		return Identity{}, fmt.Errorf("%w: not the lines of version %d", errDamaged, FormatVersion)
	}
	node, err := strconv.ParseUint(strings.TrimPrefix(lines[2], "node "), 10, 64)
	if err != nil || node == 0 {
		return Identity{}, fmt.Errorf("%w: no node number", errDamaged)
	}
	cluster, err := ident.ParseReference(strings.TrimPrefix(lines[3], "cluster "))
	if err != nil {
		return Identity{}, fmt.Errorf("%w: no cluster identity", errDamaged)
	}
	return Identity{Node: ident.Node(node), Cluster: cluster}, nil
}

func encodeIncarnation(n ident.Incarnation) []byte { return seal(fmt.Sprintf("incarnation %d\n", n)) }

func decodeIncarnation(content []byte) (ident.Incarnation, error) {
	lines, err := unseal(content)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(lines[0], "incarnation "), 10, 64)
	if len(lines) != 1 || err != nil || n == 0 {
		return 0, fmt.Errorf("%w: no count of starts", errDamaged)
	}
	return ident.Incarnation(n), nil
}

const sealWord = "sha256 "

// seal appends the digest line.
func seal(lines string) []byte {
	digest := sha256.Sum256([]byte(lines))
	return []byte(lines + sealWord + hex.EncodeToString(digest[:]) + "\n")
}

// unseal checks the digest line and gives the others, at least one.
func unseal(content []byte) ([]string, error) {
	at := bytes.LastIndex(content, []byte("\n"+sealWord))
	if at < 0 || !bytes.Equal(seal(string(content[:at+1])), content) {
		return nil, fmt.Errorf("%w: the digest does not fit", errDamaged)
	}
	return strings.Split(string(content[:at]), "\n"), nil
}

// readSealed reads a small file; a missing one is os.ErrNotExist.
func readSealed(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > 4096 {
		return nil, fmt.Errorf("%w: %d bytes", errDamaged, info.Size())
	}
	return os.ReadFile(path)
}
