// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
)

// Positions advance, epochs void older ones, deletions delete, and reopening or losing power changes nothing that was waited for.
func TestPositionScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		fs := vfs.NewCrashableMem()
		s := mustOpen(t, fs)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var domain, ingestor string
			var epoch, sequence uint64
			var instance int
			d.MaybeScanArgs(t, "domain", &domain)
			d.MaybeScanArgs(t, "ingestor", &ingestor)
			d.MaybeScanArgs(t, "epoch", &epoch)
			d.MaybeScanArgs(t, "instance", &instance)
			d.MaybeScanArgs(t, "sequence", &sequence)
			k := PositionKey{ident.Domain(domain), ident.Name(ingestor), Epoch(epoch), Instance(instance)}
			outcome := func(k Ticket) string {
				if err := k.Wait(context.Background()); err != nil {
					return err.Error()
				}
				return "durable"
			}
			switch d.Cmd {
			case "put":
				return outcome(s.PutPosition(k, position(sequence)))
			case "get":
				p, found, err := s.GetPosition(k)
				if err != nil || !found {
					return fmt.Sprint("found=", found, " err=", err)
				}
				if diff := cmp.Diff(position(p.Sequence), p); diff != "" {
					return diff
				}
				return fmt.Sprint("sequence=", p.Sequence)
			case "delete-positions":
				return outcome(s.DeletePositions(k.Domain, k.Ingestor))
			case "delete-domain":
				return outcome(s.DeleteDomain(k.Domain))
			case "reopen":
				mustClose(t, s)
				s = mustOpen(t, fs)
				return ""
			case "power-loss":
				lost := fs.CrashClone(vfs.CrashCloneCfg{})
				mustClose(t, s)
				fs = lost
				s = mustOpen(t, fs)
				return ""
			case "close":
				if err := s.Close(); err != nil {
					return err.Error()
				}
				return ""
			default:
				t.Fatalf("unknown command %s", d.Cmd)
				return ""
			}
		})
		mustClose(t, s)
	})
}

func TestLimits(t *testing.T) {
	s := mustOpen(t, vfs.NewMem())
	defer mustClose(t, s)
	k := key(1, 1, 0)
	for _, c := range []struct {
		k PositionKey
		p Position
	}{
		{PositionKey{Ingestor: "a"}, position(1)}, {PositionKey{Domain: "a"}, position(1)},
		{PositionKey{Domain: ident.Domain(strings.Repeat("a", 256)), Ingestor: "a"}, position(1)},
		{k, Position{Bytes: make([]byte, MaxPositionBytes+1)}}, {k, Position{Identity: make([]byte, MaxIdentityBytes+1)}},
	} {
		if err := s.PutPosition(c.k, c.p).Wait(t.Context()); !fault.Has(err, fault.StateMisuse) {
			t.Errorf("%v: %v", c.k, err)
		}
	}
	if err := s.DeleteDomain("").Wait(t.Context()); !fault.Has(err, fault.StateMisuse) {
		t.Error(err)
	}
	if err := s.DeletePositions("a", "").Wait(t.Context()); !fault.Has(err, fault.StateMisuse) {
		t.Error(err)
	}
}

func TestKeysAndValues(t *testing.T) {
	name := rapid.StringMatching(`[a-z0-9_~.-]{1,40}`)
	rapid.Check(t, func(t *rapid.T) {
		k := PositionKey{Domain: ident.Domain(name.Draw(t, "d")), Ingestor: ident.Name(name.Draw(t, "i")), Epoch: Epoch(rapid.Uint64().Draw(t, "e")),
			Instance: Instance(rapid.Uint32().Draw(t, "n"))}
		b := k.bytes()
		if got, ok := parsePositionKey(b); !ok || got != k {
			t.Fatalf("%v became %v", k, got)
		}
		for _, prefix := range [][]byte{domainPrefix(k.Domain), ingestorPrefix(k.Domain, k.Ingestor), epochPrefix(k.Domain, k.Ingestor, k.Epoch)} {
			if s := string(b); s < string(prefix) || (after(prefix) != nil && s >= string(after(prefix))) {
				t.Fatalf("%x is not below %x", b, prefix)
			}
		}
		p := Position{Sequence: rapid.Uint64().Draw(t, "s"), Identity: rapid.SliceOfN(rapid.Byte(), 0, 1024).Draw(t, "id"),
			Bytes: rapid.SliceOfN(rapid.Byte(), 0, 64).Draw(t, "b"), Settled: math.MaxUint64, Rejected: 1}
		v := encodePosition(p)
		got, _, ok := decodePosition(v)
		if !ok || string(got.Identity) != string(p.Identity) || string(got.Bytes) != string(p.Bytes) || got.Sequence != p.Sequence {
			t.Fatalf("%v became %v", p, got)
		}
		if _, _, ok := decodePosition(v[:rapid.IntRange(0, len(v)-1).Draw(t, "cut")]); ok {
			t.Fatal("a cut value was read")
		}
	})
}

func FuzzDecodePosition(f *testing.F) {
	f.Add(key(1, 2, 3).bytes(), encodePosition(position(9)))
	f.Fuzz(func(t *testing.T, k, v []byte) {
		if parsed, ok := parsePositionKey(k); ok && string(parsed.bytes()) != string(k) {
			t.Errorf("%x is read as %v", k, parsed)
		}
		if p, _, ok := decodePosition(v); ok && string(encodePosition(p)) != string(v) {
			t.Errorf("%x is read as %v", v, p)
		}
	})
}

func TestOpenRefusals(t *testing.T) {
	// made runs change on the files of a good store with one position and gives the error of opening it.
	made := func(change func(fs vfs.FS)) error {
		fs := vfs.NewMem()
		s := mustOpen(t, fs)
		wait(t, s.PutPosition(key(1, 1, 0), position(1)))
		mustClose(t, s)
		change(fs)
		s, err := Open(storeDir, options(fs))
		if err == nil {
			mustClose(t, s)
		}
		return err
	}
	overwrite := func(fs vfs.FS, match string, text string) {
		names, err := fs.List(storeDir)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			if strings.Contains(n, match) {
				write(t, fs, n, text)
			}
		}
	}
	remove := func(match string) func(fs vfs.FS) {
		return func(fs vfs.FS) {
			names, _ := fs.List(storeDir)
			for _, n := range names {
				if strings.Contains(n, match) {
					if err := fs.Remove(fs.PathJoin(storeDir, n)); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	header := func(change func([]byte) []byte) func(fs vfs.FS) {
		return func(fs vfs.FS) { rewriteHeader(t, fs, change) }
	}
	for _, c := range []struct {
		name   string
		code   fault.Code
		change func(fs vfs.FS)
	}{
		{"untouched", "", func(vfs.FS) {}},
		{"no manifest marker", fault.DaemonDamaged, remove("marker.manifest")},
		{"no manifest", fault.DaemonDamaged, remove("MANIFEST-")},
		{"garbage in the manifest", fault.DaemonDamaged, func(fs vfs.FS) { overwrite(fs, "MANIFEST-", "garbage garbage garbage") }},
		{"empty manifest", fault.DaemonDamaged, func(fs vfs.FS) { overwrite(fs, "MANIFEST-", "") }},
		{"garbage in a table", fault.DaemonDamaged, func(fs vfs.FS) { overwrite(fs, ".sst", strings.Repeat("garbage ", 100)) }},
		{"no tables", fault.DaemonDamaged, remove(".sst")},
		{"a strange file", fault.DaemonForeign, func(fs vfs.FS) { write(t, fs, "letter.txt", "dear") }},
		{"newer pebble", fault.DaemonNewer, func(fs vfs.FS) {
			remove("marker.format-version")(fs)
			write(t, fs, "marker.format-version.000009.999", "")
		}},
		{"newer header", fault.DaemonNewer, header(func(b []byte) []byte { b[8]++; return append(b, "more"...) })},
		{"header of another node", fault.DaemonForeign, header(func(b []byte) []byte { b[12]++; return b })},
		{"header of another folder", fault.DaemonForeign, header(func(b []byte) []byte { b[35]++; return b })},
		{"header without magic", fault.DaemonDamaged, header(func(b []byte) []byte { b[0]++; return b })},
		{"short header", fault.DaemonDamaged, header(func(b []byte) []byte { return b[:30] })},
		{"no header", fault.DaemonDamaged, header(func([]byte) []byte { return nil })},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := made(c.change)
			if fault.CodeOf(err) != c.code {
				t.Errorf("%v, want %s", err, c.code)
			}
			if err != nil && !strings.Contains(err.Error(), storeDir) {
				t.Errorf("the message does not name the folder: %v", err)
			}
		})
	}
}

func write(t *testing.T, fs vfs.FS, name, text string) {
	f, err := fs.Create(fs.PathJoin(storeDir, name), vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestLockedAndUnusable(t *testing.T) {
	dir := t.TempDir() + "/state"
	s, err := Open(dir, options(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer mustClose(t, s)
	if _, err := Open(dir, options(nil)); !fault.Has(err, fault.DaemonLocked) || !strings.Contains(err.Error(), dir) {
		t.Error(err)
	}
	if mode := statMode(t, dir); mode != 0o700 {
		t.Errorf("mode %o", mode)
	}
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file, options(nil)); !fault.Has(err, fault.StateFailed) {
		t.Error(err)
	}
}

func statMode(t *testing.T, path string) os.FileMode {
	i, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return i.Mode().Perm()
}
