// SPDX-License-Identifier: Apache-2.0

package guest

import (
	"testing"
)

// reading looks at everything a batch lends.
func reading() *sketch {
	return &sketch{batch: func(c *Call, b *Batch) error {
		n := 0
		for i := range b.Rows() {
			n += b.Entry(i).Tokens()
			for k := range b.Columns() {
				if s, ok := read(b.Column(k), i).(string); ok {
					n += len(s)
				}
			}
		}
		return nil
	}}
}

func wideInit() *Init {
	return &Init{DomainName: "d", DomainType: "unpaced", Input: schema("in", "a STRING, b I64 OPTIONAL, c VEC<STRING>, d ARRAY<BOOL, 3> OPTIONAL, e BYTES"),
		Outputs: []*Schema{schema("out", "a STRING")}}
}

func wideInput(b *bench) []byte {
	return b.encode([][]any{
		{"one", 1, []any{"x", ""}, []any{true, false, true}, []byte{1}},
		{"", nil, []any{}, nil, []byte{}},
		{"three", 3, []any{"yy"}, []any{false, false, true}, []byte{7, 8}},
	})
}

// refusedOr delivers bytes that may be damaged to a new instance: it answers, and what it refuses changes nothing.
func refusedOr(t testing.TB, message []byte) {
	b := began(t, reading(), wideInit())
	code := b.deliver(b.ProcessBatch, message)
	if code > 0 || (code == 0) != (b.fake.reason == "") {
		t.Fatalf("the batch answers %d `%s`", code, b.fake.reason)
	}
	b.fake.reason = ""
	b.ok(b.deliver(b.ProcessBatch, wideInput(b)))
}

func TestDamagedInput(t *testing.T) {
	// req: W-112 half: each byte of an input changed, and each length cut, is refused or harmless
	good := wideInput(began(t, reading(), wideInit()))
	for at := range good {
		for _, x := range []byte{0x01, 0x80, 0xFF} {
			bad := append([]byte(nil), good...)
			bad[at] ^= x
			refusedOr(t, bad)
		}
	}
	for n := range good {
		b := began(t, reading(), wideInit())
		if code := b.deliver(b.ProcessBatch, good[:n]); code >= 0 {
			t.Fatalf("%d of %d bytes are taken", n, len(good))
		}
	}
	b := began(t, reading(), wideInit())
	b.refuses(b.deliver(b.ProcessBatch, append(good, 0)), BadMessage, "the input message is damaged or of another kind")
	b.refuses(b.deliver(b.ProcessBatch, encodeInit(wideInit())), BadMessage, "the input message is damaged or of another kind")
	other := plainInit()
	b.refuses(b.deliver(b.ProcessBatch, encodeInput(other.Input, nil, nil)), BadBatch, "the Arrow batch is damaged or has another schema than the input")
}

func TestMovedInput(t *testing.T) {
	// A message that does not begin at a multiple of 8 is read all the same.
	b := began(t, reading(), wideInit())
	message := wideInput(b)
	at, _ := b.Alloc(int32(len(message) + 4))
	copy(b.buffer()[4:], message)
	b.ok(b.ProcessBatch(at+4, int32(len(message))))
}

func FuzzInput(f *testing.F) {
	b := began(f, reading(), wideInit())
	f.Add(wideInput(b))
	f.Add(encodeInput(wideInit().Input, nil, nil))
	f.Add(doubled(&bench{desc: wideInit(), next: firstToken}, []any{"one", 1, []any{}, nil, []byte{1}}))
	f.Fuzz(func(t *testing.T, message []byte) { refusedOr(t, message) })
}

func FuzzInit(f *testing.F) {
	f.Add(encodeInit(plainInit()))
	f.Add(encodeInit(&Init{Input: schema("in", allTypes), Outputs: []*Schema{schema("out", allTypes)}}))
	f.Fuzz(func(t *testing.T, message []byte) {
		b := &bench{t: t, fake: &fakeHost{}}
		b.instance = newInstance(&sketch{}, b.fake)
		code := b.deliver(b.Init, message)
		if code > 0 || (code == 0) != (b.fake.reason == "") {
			t.Fatalf("init answers %d `%s`", code, b.fake.reason)
		}
		if code == 0 && !readInit(message).sameBranch(b.init) {
			t.Fatal("what was read is not what was written")
		}
	})
}

func FuzzState(f *testing.F) {
	f.Add(wrap(plainInit(), make([]byte, 8)))
	f.Add(wrap(plainInit(), nil))
	f.Fuzz(func(t *testing.T, state []byte) {
		b := began(t, &counting{}, plainInit())
		code := b.deliver(b.LoadState, state)
		if code != 0 && code != int32(BadSnapshot) && code != int32(BadState) || (code == 0) != (b.fake.reason == "") {
			t.Fatalf("the restore answers %d `%s`", code, b.fake.reason)
		}
	})
}
