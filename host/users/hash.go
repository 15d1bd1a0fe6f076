// SPDX-License-Identifier: Apache-2.0

package users

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"golang.org/x/crypto/argon2"
)

// Cost of new hashes: argon2id with 19 MiB, two passes, one lane.
const (
	memoryKiB = 19 * 1024
	passes    = 2
	lanes     = 1
	saltBytes = 16
	keyBytes  = 32
)

// Bounds of a stored hash, so that a forged one cannot take the node's memory.
const (
	maxMemoryKiB = 64 * 1024
	maxPasses    = 10
	maxLanes     = 4
)

// MaxPasswordBytes is the longest password.
const MaxPasswordBytes = 1024

// Hash makes the stored form of a password: $argon2id$v=19$m=19456,t=2,p=1$salt$key. Equal passwords give different hashes. The password
// has 1 to MaxPasswordBytes bytes.
func Hash(password string) (string, error) {
	if len(password) == 0 || len(password) > MaxPasswordBytes {
		return "", fault.New(fault.UserPassword, "users.Hash", ident.Ref{}, fmt.Sprintf("a password of %d bytes", len(password)), nil)
	}
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails; it ends the process instead
	key := argon2.IDKey([]byte(password), salt, passes, memoryKiB, lanes, keyBytes)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memoryKiB, passes, lanes,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key)), nil
}

var errHash = errors.New("stored password hash is not a valid argon2id PHC string")

// stored is a parsed hash.
type stored struct {
	memory, passes uint32
	lanes          uint8
	salt, key      []byte
}

func parse(phc string) (stored, error) {
	var s stored
	parts := strings.Split(phc, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return s, errHash
	}
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &s.memory, &s.passes, &s.lanes); err != nil || n != 3 ||
		parts[3] != fmt.Sprintf("m=%d,t=%d,p=%d", s.memory, s.passes, s.lanes) {
		return s, errHash
	}
	if s.memory < 8*uint32(s.lanes) || s.memory > maxMemoryKiB || s.passes < 1 || s.passes > maxPasses || s.lanes < 1 || s.lanes > maxLanes {
		return s, errHash
	}
	var err error
	if s.salt, err = base64.RawStdEncoding.Strict().DecodeString(parts[4]); err != nil || len(s.salt) < 8 || len(s.salt) > 64 {
		return s, errHash
	}
	if s.key, err = base64.RawStdEncoding.Strict().DecodeString(parts[5]); err != nil || len(s.key) < 16 || len(s.key) > 64 {
		return s, errHash
	}
	return s, nil
}

// verify compares in constant time.
func (s stored) verify(password string) bool {
	key := argon2.IDKey([]byte(password), s.salt, s.passes, s.memory, s.lanes, uint32(len(s.key)))
	return subtle.ConstantTimeCompare(key, s.key) == 1
}

// Verify says whether a password belongs to a stored hash. An error means that the hash is damaged. It takes tens of milliseconds of one
// core; Judge runs it on its worker.
func Verify(phc, password string) (bool, error) {
	s, err := parse(phc)
	if err != nil {
		return false, err
	}
	return s.verify(password), nil
}

// GeneratePassword makes a random password of 24 characters, 144 bits.
func GeneratePassword() string {
	raw := make([]byte, 18)
	_, _ = rand.Read(raw)
	return base64.RawURLEncoding.EncodeToString(raw)
}
