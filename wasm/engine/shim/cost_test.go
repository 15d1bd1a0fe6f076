// SPDX-License-Identifier: Apache-2.0

package shim_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/watguest"
)

// What a branch costs is its linear memory, whatever the size of the code, of which there is one copy for all.
func TestBranchesShareTheCode(t *testing.T) {
	// req: W-008 half: as the engine accounts for it, and resident memory in orders of magnitude; no load is put on a node
	const branches = 40
	large := watguest.Guest{}
	for k := range 25 { // many times the code of the small one
		large.Extra += fmt.Sprintf("(func (export \"f%d\") (param i64) (result i64) %s)\n", k, strings.Repeat("(local.set 0 (i64.rotl (i64.mul (local.get 0) (i64.const 77)) (i64.const 3)))", 50)+"local.get 0")
	}
	for _, v := range variants[:2] { // the plain library accounts for less
		t.Run(v.name, func(t *testing.T) {
			type cost struct{ linear, maps, grown uint64 }
			var costs []cost
			for _, g := range []watguest.Guest{{}, large} {
				g.Bodies = map[string]string{"nervix_flush": "(drop (memory.grow (i32.const 3))) i32.const 0"}
				w := open(t, engine.Config{Profile: v.profile}, v.open)
				m := w.module(g)
				var live []*engine.Instance
				for range branches {
					same := w.module(g) // as another branch's processor acquires it
					if same != m {
						t.Fatal("one file has two copies of its code")
					}
					i, err := same.Instantiate(plain, now)
					if err != nil {
						t.Fatal(err)
					}
					live = append(live, i)
				}
				u := w.Usage()
				if w.Modules() != 1 || u.Stores != branches || u.LinearBytes%branches != 0 {
					t.Fatalf("%+v of %d branches, %d modules", u, branches, w.Modules())
				}
				c := cost{linear: u.LinearBytes / branches, maps: u.Maps} // the dense profile has one for many
				i := live[0]
				i.Begin(engine.OpFlush, now)
				if _, err := i.Flush(); err != nil {
					t.Fatal(err)
				}
				c.grown = w.Usage().LinearBytes - u.LinearBytes
				costs = append(costs, c)
				for k, i := range live {
					if err := i.Close(); err != nil {
						t.Fatal(err)
					}
					left := uint64(branches - k - 1)
					if got := w.Usage().LinearBytes; got != left*c.linear {
						t.Fatalf("%d branches are left with %d bytes", left, got)
					}
				}
			}
			if costs[0] != costs[1] || costs[0].linear != 2<<16 || costs[0].grown != 3<<16 {
				t.Errorf("a branch of a small module costs %+v, of a large one %+v", costs[0], costs[1])
			}
		})
	}
}

// Declared memory costs nothing before it is written: 64 branches with 16 MiB each, of which a guest touches a page, hold a small part of that gigabyte.
func TestUntouchedPagesCostNothing(t *testing.T) {
	// req: W-008 half: see TestBranchesShareTheCode
	resident := func() int64 {
		text, err := os.ReadFile("/proc/self/statm")
		if err != nil {
			t.Fatal(err)
		}
		pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return pages * int64(os.Getpagesize())
	}
	const branches, declared = 64, 16 << 20
	for _, v := range variants[:2] {
		t.Run(v.name, func(t *testing.T) {
			w := open(t, engine.Config{Profile: v.profile}, v.open)
			m := w.module(watguest.Guest{Memory: "256"})
			before := resident()
			for range branches {
				i, err := m.Instantiate(engine.Spec{Fuel: 1e6, Memory: declared}, now)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := w.batch(i, "x"); err != nil {
					t.Fatal(err)
				}
			}
			if u := w.Usage(); u.LinearBytes != branches*declared {
				t.Fatalf("%+v", u)
			}
			if grown := resident() - before; grown > branches*declared/2 {
				t.Errorf("%d branches with %d bytes each and one page touched hold %d bytes", branches, declared, grown)
			}
		})
	}
}
