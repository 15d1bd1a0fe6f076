// SPDX-License-Identifier: Apache-2.0

package engine

// View is a lent range of guest memory. It dies with the next call into its instance, because the guest may move, grow or overwrite what
// it names; a use after that panics. Under the invariants tag the bytes are a copy that is spoiled when the view dies, so that a kept
// slice shows too.
type View struct {
	inst *Instance
	turn uint64
	at   uint32
	data []byte
}

// Len is the number of bytes.
func (v View) Len() int { return len(v.data) }

// At is the guest's address of the first byte.
func (v View) At() uint32 { return v.at }

// Bytes lends the range until the next call into the instance. Nobody keeps the slice.
func (v View) Bytes() []byte {
	if v.inst != nil && v.turn != v.inst.turn {
		panic("wasm/engine: a view of guest memory was used after the next guest call")
	}
	return v.data
}

func (i *Instance) view(at uint32, data []byte, writable bool) View {
	if len(data) == 0 {
		return View{at: at}
	}
	return View{inst: i, turn: i.turn, at: at, data: i.loans.lend(data, writable)}
}
