// SPDX-License-Identifier: Apache-2.0

package state

import "testing"

// BenchmarkPut accepts positions and waits for one ticket in a hundred, on the real file system.
func BenchmarkPut(b *testing.B) {
	s, err := Open(b.TempDir()+"/state", options(nil))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for n := uint64(1); b.Loop(); n++ {
		if k := s.PutPosition(key(0, 1, 0), position(n)); n%100 == 0 {
			wait(b, k)
		}
	}
	b.StopTimer()
	mustClose(b, s)
}
