// SPDX-License-Identifier: Apache-2.0

//go:build wasip1 && !tinygo

package guest

import "unsafe"

// The standard toolchain ends a program by a call of WASI, and after that no Go function can run: the error channel, which the host reads then,
// is therefore not made of Go. cmd/stubwasi puts these three functions and the exports of the channel into the module.

//go:wasmimport nervix_stubwasi latch
func stubLatch(reason unsafe.Pointer, size int32)

//go:wasmimport nervix_stubwasi latched
func stubLatched() int32

//go:wasmimport nervix_stubwasi trap
func stubTrap()

// env is the host of a module.
type env struct{}

func (env) Latch(reason []byte) {
	stubLatch(unsafe.Pointer(unsafe.SliceData(reason)), int32(len(reason)))
}
func (env) Latched() bool { return stubLatched() != 0 }
func (env) Trap()         { stubTrap() }
