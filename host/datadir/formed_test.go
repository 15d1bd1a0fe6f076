// SPDX-License-Identifier: Apache-2.0

package datadir

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

func TestFormedKeepsTheRevisionAndRefusesAnAlteredFile(t *testing.T) {
	d, err := Open(filepath.Join(t.TempDir(), "data"), vtime.UTCFromNS(1))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, formed, err := d.Formed(); formed || err != nil {
		t.Fatalf("a new folder: formed %v, %v", formed, err)
	}
	for _, want := range []uint64{1, 18446744073709551615} {
		if err := d.SetFormed(ident.Revision(want)); err != nil {
			t.Fatal(err)
		}
		if got, formed, err := d.Formed(); !formed || err != nil || uint64(got) != want {
			t.Fatalf("got %d, %v, %v; want %d", got, formed, err, want)
		}
	}
	path := filepath.Join(d.Path(), formedName)
	for _, content := range []string{"", "revision 7\n", string(seal("revision x\n")), string(seal("a\nb\n"))} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := d.Formed(); !fault.Has(err, fault.DaemonDamaged) {
			t.Errorf("content %q: %v, want daemon.damaged", content, err)
		}
	}
}

func TestLostListsWhatIsMissingOrEmpty(t *testing.T) {
	d, err := Open(filepath.Join(t.TempDir(), "data"), vtime.UTCFromNS(1))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Sub("empty"); err != nil {
		t.Fatal(err)
	}
	full, err := d.Sub("full")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(full, "x"), filepath.Join(d.Path(), "file")} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.Lost("empty", "full", "file", "absent"); !slices.Equal(got, []string{"empty", "absent"}) {
		t.Fatalf("lost: %v", got)
	}
}
