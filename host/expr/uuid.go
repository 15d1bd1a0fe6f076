// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/nervix-go/nervix/host/expr/loop"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// now is the execution snapshot: one value per unit of work (nspl 11.5).
type now struct{}

func (now) eval(r *run, _ []byte) column {
	c := column{kind: types.Datetime, n: 1, konst: true, fixed: r.mem.bytes(8)}
	loop.View[int64](c.fixed)[0] = r.env.Now.NS()
	return c
}

// uuidV7 is a new UUID per row: milliseconds of the execution snapshot and 74 random bits.
type uuidV7 struct{ place }

const (
	uuidText   = 36
	uuidRandom = 10
)

func (x *uuidV7) eval(r *run, sel []byte) column {
	ns := r.env.Now.NS()
	if ns < 0 {
		out := r.nulls(types.String)
		for i := range r.n {
			if sel == nil || bitAt(sel, i) {
				r.fail(i, Overflow, "uuid_v7: the time is before 1970")
			}
		}
		return out
	}
	n := r.n
	if limit := r.textLimit(); n > limit/uuidText {
		n = limit / uuidText
	}
	out := r.newText(types.String, r.n, n*uuidText, false, x.root)
	random := r.mem.bytes(n * uuidRandom)
	if n > 0 {
		r.env.Random(random)
	}
	var id [16]byte
	for i := range r.n {
		if i >= n {
			r.reject(&out, sel, i, Overflow, "uuid_v7: "+textTooLong)
			out.offs[i+1] = out.offs[i]
			continue
		}
		binary.BigEndian.PutUint64(id[:8], uint64(ns/1_000_000)<<16)
		copy(id[6:], random[i*uuidRandom:(i+1)*uuidRandom])
		id[6] = id[6]&0x0f | 0x70
		id[8] = id[8]&0x3f | 0x80
		writeUUID(out.text[i*uuidText:(i+1)*uuidText], &id)
		out.offs[i+1] = int32((i + 1) * uuidText)
	}
	return out
}

func writeUUID(dst []byte, id *[16]byte) {
	hex.Encode(dst[0:8], id[0:4])
	dst[8] = '-'
	hex.Encode(dst[9:13], id[4:6])
	dst[13] = '-'
	hex.Encode(dst[14:18], id[6:8])
	dst[18] = '-'
	hex.Encode(dst[19:23], id[8:10])
	dst[23] = '-'
	hex.Encode(dst[24:36], id[10:16])
}
