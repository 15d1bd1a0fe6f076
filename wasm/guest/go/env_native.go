// SPDX-License-Identifier: Apache-2.0

//go:build !wasm && !tinygo.wasm

package guest

// Register makes p the processor of a module. Outside a module it does nothing, so that a guest can be tested natively.
func Register(Processor) {}
