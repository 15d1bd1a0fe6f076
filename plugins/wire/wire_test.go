// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bytes"
	"errors"
	"net"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// pairs gives both kinds of connection: sockets and net.Pipe.
func pairs(t *testing.T) map[string][2]net.Conn {
	t.Helper()
	host, child, err := Pair()
	if err != nil {
		t.Fatal(err)
	}
	other, err := FromFile(child)
	if err != nil {
		t.Fatal(err)
	}
	a, b := net.Pipe()
	return map[string][2]net.Conn{"socket": {host, other}, "pipe": {a, b}}
}

func open(Header) error { return nil }

// Frames of all sizes arrive as they were sent, whatever the reads cut.
func TestFrames(t *testing.T) {
	for name, c := range pairs(t) {
		t.Run(name, func(t *testing.T) {
			from, to := New(c[0], DefaultMaxBody), New(c[1], DefaultMaxBody)
			sizes := []int{0, 1, 23, 24, 25, 4095, 4096, 4097, 64 << 10, 1 << 20, 1<<20 + 1, 5 << 20, 0, 3}
			go func() {
				for i, n := range sizes {
					body := bytes.Repeat([]byte{byte(i)}, n)
					_ = from.Write(Header{Kind: KindBatch, Channel: uint32(i), Count: 7, Arg: 1 << 40}, body[:n/2], body[n/2:])
				}
				_ = from.Close()
			}()
			for i, n := range sizes {
				h, body, err := to.Read(open)
				if err != nil {
					t.Fatal(err)
				}
				if want := (Header{Length: uint32(n), Kind: KindBatch, Channel: uint32(i), Count: 7, Arg: 1 << 40}); h != want {
					t.Fatalf("%+v, want %+v", h, want)
				}
				if n == 0 {
					if body != nil {
						t.Fatal("a body from nowhere")
					}
					continue
				}
				if !bytes.Equal(body.Bytes(), bytes.Repeat([]byte{byte(i)}, n)) {
					t.Fatalf("frame %d damaged", i)
				}
				body.Release()
			}
			if _, _, err := to.Read(open); !IsEnd(err) {
				t.Fatalf("%v", err)
			}
			_ = to.Close()
		})
	}
}

func TestRefusedFrames(t *testing.T) {
	// req: P-012 half: the cut is in supervise's tests
	stop := errors.New("no")
	for name, send := range map[string]func(net.Conn){
		"kind":     func(c net.Conn) { b := make([]byte, HeaderBytes); b[4] = 200; _, _ = c.Write(b) },
		"reserved": func(c net.Conn) { b := make([]byte, HeaderBytes); b[4], b[6] = 1, 1; _, _ = c.Write(b) },
		"length":   func(c net.Conn) { _ = New(c, 0).Write(Header{Kind: KindBatch}, make([]byte, 2000)) },
		"accept":   func(c net.Conn) { _ = New(c, 0).Write(Header{Kind: KindBatch, Channel: 9}, make([]byte, 10)) },
	} {
		a, b := net.Pipe()
		go send(a)
		_, _, err := New(b, 1000).Read(func(h Header) error {
			if h.Channel == 9 {
				return stop
			}
			return nil
		})
		if name == "accept" && !errors.Is(err, stop) || name != "accept" && !errors.Is(err, ErrViolation) {
			t.Errorf("%s: %v", name, err)
		}
		_, _ = a.Close(), b.Close()
	}
}

// A header that announces 64 MiB claims no memory for them.
func TestAnnouncedBytesCostNothing(t *testing.T) {
	a, b := net.Pipe()
	go func() {
		var head [HeaderBytes]byte
		Header{Length: DefaultMaxBody, Kind: KindBatch}.put(head[:])
		_, _ = a.Write(head[:])
		_ = a.Close()
	}()
	c := New(b, DefaultMaxBody)
	before := allocatedBytes()
	if _, _, err := c.Read(open); !IsEnd(err) {
		t.Fatal(err)
	}
	if cost := allocatedBytes() - before; cost > 2<<20 {
		t.Errorf("it cost %d bytes", cost)
	}
}

func allocatedBytes() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func TestAnswersRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := Answers{List: []Answer{}, Failure: rapid.StringN(0, 50, 4000).Draw(t, "failure"), Definitive: rapid.Bool().Draw(t, "definitive"),
			RetryAfter: time.Duration(rapid.IntRange(0, 100000).Draw(t, "ms")) * time.Millisecond}
		for range rapid.IntRange(0, 5).Draw(t, "n") {
			a.List = append(a.List, Answer{rapid.Uint64().Draw(t, "f"), rapid.Uint64().Draw(t, "l"), rapid.StringN(0, 20, 500).Draw(t, "r")})
		}
		got, err := ParseAnswers(a.Append(nil))
		if err != nil || !reflect.DeepEqual(got, a) {
			t.Fatalf("%v %s", err, cmp.Diff(a, got))
		}
	})
}

func TestWithin(t *testing.T) {
	// req: P-038
	for _, c := range []struct {
		list []Answer
		ok   bool
	}{
		{nil, true},
		{[]Answer{{First: 5, Last: 9}}, true},
		{[]Answer{{First: 5, Last: 6}, {First: 8, Last: 9}}, true},
		{[]Answer{{First: 5, Last: 7}, {First: 7, Last: 9}}, false},
		{[]Answer{{First: 8, Last: 9}, {First: 5, Last: 6}}, false},
		{[]Answer{{First: 4, Last: 5}}, false},
		{[]Answer{{First: 9, Last: 10}}, false},
		{[]Answer{{First: 7, Last: 6}}, false},
	} {
		if err := (Answers{List: c.list}).Within(5, 9); (err == nil) != c.ok {
			t.Errorf("%v: %v", c.list, err)
		}
	}
}

func TestCredit(t *testing.T) {
	c := Credit{Batches: 2, Bytes: 100, Rows: 10}
	if !c.Take(500, 4) || c.Take(1, 1) { // the bytes may be overdrawn once
		t.Fatal(c)
	}
	c.Grant(Credit{Bytes: 500})
	if c.Take(1, 7) || !c.Take(1, 6) || c.Take(1, 0) {
		t.Fatal(c)
	}
	h, body := GrantFrame(3, Credit{Batches: 4, Bytes: 5, Rows: 6})
	if got := ParseGrant(h, body); got != (Credit{4, 5, 6}) {
		t.Fatal(got)
	}
}

func FuzzParseAnswers(f *testing.F) {
	f.Add(Answers{List: []Answer{{1, 2, ""}, {3, 3, "no"}}, Failure: "f", RetryAfter: time.Second}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if a, err := ParseAnswers(b); err == nil && !bytes.Equal(a.Append(nil)[:4], b[:4]) {
			t.Fatal("another list")
		}
	})
}

func FuzzRead(f *testing.F) {
	var head [HeaderBytes]byte
	Header{Length: 4, Kind: KindBatch, Channel: 1}.put(head[:])
	f.Add(append(head[:], "body"...))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, c := net.Pipe()
		go func() { _, _ = a.Write(b); _ = a.Close() }()
		conn := New(c, 1<<16)
		for {
			_, body, err := conn.Read(open)
			if err != nil {
				break
			}
			if body != nil {
				body.Release()
			}
		}
		_ = conn.Close()
	})
}
