// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	"github.com/nervix-go/nervix/host/kernel/ident"
)

func TestMain(m *testing.M) {
	code := m.Run()
	err := goleak.Find()
	for range 60 { // what a store or a log ends after its Close takes its time on a slow machine
		if code != 0 || err == nil {
			break
		}
		err = goleak.Find()
	}
	if code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

const storeDir = "data/state"

func options(fs vfs.FS) Options {
	return Options{Node: 7, Folder: ident.Reference{1, 2, 3}, FS: fs}
}

func mustOpen(t testing.TB, fs vfs.FS) *Store {
	t.Helper()
	s, err := Open(storeDir, options(fs))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustClose(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func key(ingestor int, epoch Epoch, instance Instance) PositionKey {
	return PositionKey{Domain: "shop", Ingestor: ident.Name(fmt.Sprintf("in%d", ingestor)), Epoch: epoch, Instance: instance}
}

// position carries its sequence in every part, so that a mixed up value is noticed.
func position(sequence uint64) Position {
	return Position{Sequence: sequence, Identity: []byte(fmt.Sprint("file ", sequence)), Bytes: binary.BigEndian.AppendUint64(nil, sequence),
		Settled: sequence * 3, Rejected: sequence * 5, Skipped: sequence * 7}
}

func wait(t testing.TB, k Ticket) {
	t.Helper()
	if err := k.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
}
