// SPDX-License-Identifier: Apache-2.0

package wire_test

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/wire"
)

// sampleFrames are encoded frames of both directions that use every table of the schema.
func sampleFrames(t testing.TB) (client, server [][]byte) {
	for _, g := range golden {
		if g.client.Body != nil {
			frame, err := wire.EncodeClient(g.client, wire.DefaultFrameLimit)
			if err != nil {
				t.Fatal(g.name, err)
			}
			client = append(client, frame)
			continue
		}
		frame, err := wire.EncodeServer(g.server, wire.DefaultFrameLimit)
		if err != nil {
			t.Fatal(g.name, err)
		}
		server = append(server, frame)
	}
	return client, server
}

// mutate changes one to four places: a byte, a bit, a small number, or the length of the frame.
func mutate(r *rand.Rand, frame []byte) []byte {
	out := append([]byte(nil), frame...)
	for range 1 + r.IntN(4) {
		at := r.IntN(len(out))
		switch r.IntN(5) {
		case 0:
			out[at] = byte(r.Uint32())
		case 1:
			out[at] ^= 1 << r.IntN(8)
		case 2:
			out[at] = byte(r.IntN(16))
		case 3:
			copy(out[at:], out[r.IntN(len(out)):])
		default:
			if len(out) > 9 && r.IntN(8) == 0 {
				out = out[:len(out)-1-r.IntN(len(out)/2)]
			}
		}
	}
	return out
}

// TestDamagedFramesFailOrReadTheSame mutates frames: none may panic, and what is accepted reads the same twice.
func TestDamagedFramesFailOrReadTheSame(t *testing.T) {
	// req: X-027
	client, server := sampleFrames(t)
	r := rand.New(rand.NewPCG(1, 2))
	refused := 0
	const rounds = 60_000
	for i := range rounds {
		if i%2 == 0 {
			frame := mutate(r, client[r.IntN(len(client))])
			a, err := wire.DecodeClient(frame, wire.DefaultFrameLimit)
			b, again := wire.DecodeClient(frame, wire.DefaultFrameLimit)
			same(t, a, b, err, again)
			if err != nil {
				refused++
			}
			continue
		}
		frame := mutate(r, server[r.IntN(len(server))])
		a, err := wire.DecodeServer(frame, wire.DefaultFrameLimit)
		b, again := wire.DecodeServer(frame, wire.DefaultFrameLimit)
		same(t, a, b, err, again)
		if err != nil {
			refused++
		}
	}
	if refused < rounds/4 {
		t.Fatalf("only %d of %d damaged frames were refused", refused, rounds)
	}
}

func same(t *testing.T, a, b any, err, again error) {
	t.Helper()
	if (err == nil) != (again == nil) || (err == nil && !cmp.Equal(a, b)) {
		t.Fatalf("one frame, two readings: %v / %v\n%s", err, again, cmp.Diff(a, b))
	}
	if err != nil && err.Error() != again.Error() {
		t.Fatalf("one frame, two errors: %v / %v", err, again)
	}
}

// allocated measures what f allocates: the least of some runs, since whatever else the process does is counted too. A run within the bound is enough.
func allocated(bound int, f func()) (least int) {
	for n := range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		if got := int(after.TotalAlloc - before.TotalAlloc); n == 0 || got < least {
			least = got
		}
		if least <= bound {
			break
		}
	}
	return least
}

// TestForeignFramesAllocateInProportion holds decoding, refused or not, to 64 KiB + 16n.
func TestForeignFramesAllocateInProportion(t *testing.T) {
	// req: X-038 half: frames only, not yet Arrow streams
	check := func(name string, frame []byte, decode func([]byte) error) {
		t.Helper()
		bound := 64<<10 + 16*len(frame)
		if got := allocated(bound, func() { _ = decode(frame) }); got > bound {
			t.Errorf("%s: a frame of %d bytes allocated %d, the bound is %d", name, len(frame), got, bound)
		}
	}
	decodeClient := func(f []byte) error { _, err := wire.DecodeClient(f, wire.DefaultFrameLimit); return err }
	decodeServer := func(f []byte) error { _, err := wire.DecodeServer(f, wire.DefaultFrameLimit); return err }

	client, server := sampleFrames(t)
	r := rand.New(rand.NewPCG(3, 4))
	for range 4_000 {
		check("damaged", mutate(r, client[r.IntN(len(client))]), decodeClient)
		check("damaged", mutate(r, server[r.IntN(len(server))]), decodeServer)
	}
	for _, n := range []int{10, 1_000, 4_000, 30_000, 250_000} {
		check("statements", rawFrame("NXSM", typeOutcome, sharedStatements(n)), decodeServer)
		check("texts", rawFrame("NXSM", typeOutcome, sharedTexts("a text of some length", make([]string, n))), decodeServer)
		check("empty texts", rawFrame("NXSM", typeOutcome, sharedTexts("", make([]string, n))), decodeServer)
	}
	// The largest accepted frames of many small objects are the dear ones.
	for _, n := range []int{100, 1_000, 10_000} {
		o := wire.CommandOutcome{Disposition: wire.DispositionFailed, Reference: "r"}
		for range n {
			o.Diagnostics = append(o.Diagnostics, fault.Diagnostic{Code: "a.b", Message: "m", Expected: []string{"a", "b"},
				Related: []ident.Ref{{Kind: ident.KindRelay, Name: "x"}}})
			o.Statements = append(o.Statements, wire.StatementResult{Disposition: wire.DispositionFailed})
		}
		frame, err := wire.EncodeServer(wire.ServerFrame{RequestID: 1, Body: o}, wire.DefaultFrameLimit)
		if err != nil {
			t.Fatal(n, err)
		}
		check("many small objects", frame, decodeServer)
	}
}

func FuzzDecodeClient(f *testing.F) {
	f.Fuzz(func(t *testing.T, frame []byte) {
		decoded, err := wire.DecodeClient(frame, 1<<20)
		if err != nil {
			return
		}
		// What is accepted can be said again in our words and means the same.
		again, err := wire.EncodeClient(decoded, 1<<20)
		if err != nil {
			t.Fatalf("accepted but not encodable: %v", err)
		}
		second, err := wire.DecodeClient(again, 1<<20)
		if err != nil || !cmp.Equal(decoded, second) {
			t.Fatalf("read differently after encoding: %v\n%s", err, cmp.Diff(decoded, second))
		}
	})
}

func FuzzDecodeServer(f *testing.F) {
	f.Fuzz(func(t *testing.T, frame []byte) {
		decoded, err := wire.DecodeServer(frame, 1<<20)
		if err != nil {
			return
		}
		again, err := wire.EncodeServer(decoded, 1<<20)
		if fault.Has(err, fault.WireTooLarge) {
			return // strings that the foreign frame shared
		}
		if err != nil {
			t.Fatalf("accepted but not encodable: %v", err)
		}
		second, err := wire.DecodeServer(again, 1<<20)
		if err != nil || !cmp.Equal(decoded, second) {
			t.Fatalf("read differently after encoding: %v\n%s", err, cmp.Diff(decoded, second))
		}
	})
}
