// SPDX-License-Identifier: Apache-2.0

package protocol_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/wasm/protocol"
)

// TestWriteCorpora makes the seeds of the fuzz targets from the samples and from the cases of the rules.
func TestWriteCorpora(t *testing.T) {
	if !*rewriteGolden {
		return
	}
	seed := func(target, name string, b []byte) {
		write(t, filepath.Join("testdata", "fuzz", target, strings.ReplaceAll(name, " ", "_")), fmt.Sprintf("go test fuzz v1\n[]byte(%q)\n", b))
	}
	targets := map[string]string{"output": "FuzzOutput", "input": "FuzzInput", "init": "FuzzInit", "snapshot": "FuzzSnapshot"}
	for name, message := range samples(t) {
		kind, _, _ := strings.Cut(name, "_")
		seed(targets[kind], name, message)
	}
	seed("FuzzOutput", "aligned", packAligned(sample(t)))
	seed("FuzzOutput", "shared", sharedOutput(3, 3, 4, 2))
	for _, c := range outputRefusals(t) {
		seed("FuzzOutput", c.name, c.message)
	}
	for _, c := range bindCases(t) {
		o := sample(t)
		before := o.GeneratedArrowIpcBatch
		c.change(o)
		if !slices.Equal(before, o.GeneratedArrowIpcBatch) {
			seed("FuzzGenerated", c.name, o.GeneratedArrowIpcBatch)
		}
	}
	seed("FuzzGenerated", "good", sample(t).GeneratedArrowIpcBatch)
}

// within fails if judging costs more than a message of n bytes may. Another test in the process may allocate too, so the meter is read again.
func within(t *testing.T, n int, f func()) {
	t.Helper()
	got := 0
	for range 3 {
		if got = allocated(f); got <= 64<<10+16*n {
			return
		}
	}
	t.Fatalf("%d bytes allocated %d", n, got)
}

func FuzzOutput(f *testing.F) {
	f.Fuzz(func(t *testing.T, message []byte) {
		_ = decodeAny(t, contract(), message, new(int))
		within(t, len(message), func() { judgeOnce(contract(), message) })
	})
}

func FuzzInput(f *testing.F) {
	f.Fuzz(func(t *testing.T, message []byte) {
		if protocol.ClassOf(decodeOther(t, message)) == 0 {
			within(t, len(message), func() { judgeOnce(contract(), message) })
		}
	})
}

func FuzzInit(f *testing.F) {
	f.Fuzz(func(t *testing.T, message []byte) {
		within(t, len(message), func() { _, _ = protocol.DecodeInit(message) })
		if i, err := protocol.DecodeInit(message); err == nil {
			_ = encodesAgain(t, i)
		}
	})
}

func FuzzSnapshot(f *testing.F) {
	f.Fuzz(func(t *testing.T, message []byte) {
		within(t, len(message), func() { _, _ = protocol.DecodeSnapshot(message) })
		s, err := protocol.DecodeSnapshot(message)
		if err != nil {
			return
		}
		again, err := protocol.EncodeSnapshot(s)
		if err != nil {
			return // what it holds is no init payload
		}
		second, err := protocol.DecodeSnapshot(again)
		if err != nil || string(second.Init) != string(s.Init) || string(second.State) != string(s.State) {
			t.Fatalf("read differently after encoding: %v", err)
		}
	})
}

// FuzzGenerated judges an Arrow stream inside a good envelope.
func FuzzGenerated(f *testing.F) {
	f.Fuzz(func(t *testing.T, stream []byte) {
		o := sample(t)
		o.GeneratedArrowIpcBatch = stream
		message := packOutput(o)
		g, err := bind(contract(), message)
		if err == nil {
			touch(g)
			g.Release()
		}
		within(t, len(message), func() { _, _ = bind(contract(), message) })
	})
}
