// SPDX-License-Identifier: Apache-2.0

//go:build invariants

package engine

// loans lends copies of guest memory. What the host wrote goes to the guest when the next call begins, and then the copy is spoiled.
type loans struct{ out []loan }

type loan struct {
	lent, guest []byte
	writable    bool
}

const spoiled = 0xdb

func (l *loans) lend(data []byte, writable bool) []byte {
	lent := append([]byte(nil), data...)
	l.out = append(l.out, loan{lent, data, writable})
	return lent
}

func (l *loans) settle() {
	for _, o := range l.out {
		if o.writable {
			copy(o.guest, o.lent)
		}
		for k := range o.lent {
			o.lent[k] = spoiled
		}
	}
	l.out = l.out[:0]
}
