// SPDX-License-Identifier: Apache-2.0

package fileconn

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func all(t testing.TB, text string, limit int, from place) []line {
	t.Helper()
	l := newLines(strings.NewReader(text), limit, from)
	var out []line
	for {
		one, err := l.next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		one.text = bytes.Clone(one.text)
		out = append(out, one)
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"a\nb\n", "1 0..2 a|2 2..4 b"},
		{"a\r\nb\r\r\n", "1 0..3 a|2 3..7 b\r"},
		{"\xef\xbb\xbfa\n\xef\xbb\xbfb", "1 0..5 a|2 5..9 \xef\xbb\xbfb"},
		{"a\nlast", "1 0..2 a|2 2..6 last"}, // req: N02
		{"a\nlast\r", "1 0..2 a|2 2..7 last\r"},
		{"\n\r\nx", "1 0..1 |2 1..3 |3 3..4 x"},
		{"12345678\n123456789\nok\n", "1 0..9 12345678|2 9..19 TOO LONG|3 19..22 ok"},
		{"12345678\r\n", "1 0..10 12345678"},
		{"\xef\xbb\xbf12345678\r\nz", "1 0..13 12345678|2 13..14 z"},
	} {
		var got []string
		for _, l := range all(t, c.text, 8, place{}) {
			text := string(l.text)
			if l.tooLong {
				text = "TOO LONG"
			}
			got = append(got, fmt.Sprintf("%d %d..%d %s", l.place.line, l.place.start, l.place.end, text))
		}
		if g := strings.Join(got, "|"); g != c.want {
			t.Errorf("%q: got %q, want %q", c.text, g, c.want)
		}
	}
}

// endless is a line that is longer than anybody wants to hold.
type endless struct{ size int64 }

func (e endless) ReadAt(b []byte, at int64) (int, error) {
	for i := range b {
		switch p := at + int64(i); {
		case p >= e.size+3:
			return i, io.EOF
		case p == e.size || p == e.size+2:
			b[i] = '\n'
		default:
			b[i] = 'x'
		}
	}
	return len(b), nil
}

func TestLineLengths(t *testing.T) {
	// req: N01
	for _, n := range []int{1, 64<<10 - 1, 64 << 10, 64<<10 + 1, 1 << 20, 1<<20 + 1} {
		got := all(t, strings.Repeat("x", n)+"\nnext\n", 1<<20, place{})
		if len(got) != 2 || got[0].tooLong != (n > 1<<20) || string(got[1].text) != "next" || !got[0].tooLong && len(got[0].text) != n {
			t.Errorf("%d bytes: %d lines, too long %v", n, len(got), got[0].tooLong)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l := newLines(endless{100 << 20}, 1<<20, place{})
	first, err := l.next()
	if err != nil || !first.tooLong || first.place != (place{0, 100<<20 + 1, 1}) {
		t.Fatalf("%+v %v", first.place, err)
	}
	if next, err := l.next(); err != nil || string(next.text) != "x" || next.place.line != 2 {
		t.Fatalf("%+v %v", next, err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 6<<20 {
		t.Errorf("a line of 100 MiB cost %d bytes", got)
	}
}

// Whatever the content: the lines are those of a plain split, their places tile the file, and reading from any place gives the rest.
func TestLinesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab\n\r\ufeff")), 0, 200, -1).Draw(t, "text")
		var got []line
		l := newLines(strings.NewReader(text), 50, place{})
		at := int64(0)
		for {
			start := l.at
			text1 := l.quick()
			one, err := line{text: text1, place: place{start, l.at, l.number}}, error(nil)
			if text1 == nil {
				one, err = l.next()
			}
			if err == io.EOF {
				break
			}
			if one.place.start != at || one.place.end <= at || one.place.line != int64(len(got)+1) {
				t.Fatalf("place %+v after %d", one.place, at)
			}
			raw := text[one.place.start:one.place.end]
			want, ended := strings.CutSuffix(raw, "\n")
			if ended {
				want = strings.TrimSuffix(want, "\r")
			}
			if at == 0 {
				want = strings.TrimPrefix(want, "\ufeff")
			}
			if !one.tooLong && string(one.text) != want || one.tooLong != (len(want) > 50) {
				t.Fatalf("line %q of %q", one.text, raw)
			}
			at = one.place.end
			one.text = bytes.Clone(one.text)
			got = append(got, one)
		}
		if at != int64(len(text)) {
			t.Fatalf("ended at %d of %d", at, len(text))
		}
		if len(got) > 0 {
			k := rapid.IntRange(0, len(got)-1).Draw(t, "k")
			rest := newLines(strings.NewReader(text), 50, got[k].place)
			for _, want := range got[k+1:] {
				one, err := rest.next()
				if err != nil || one.place != want.place || !bytes.Equal(one.text, want.text) {
					t.Fatalf("resumed %+v %v, want %+v", one, err, want)
				}
			}
		}
	})
}

func BenchmarkLines(b *testing.B) {
	text := []byte(strings.Repeat(strings.Repeat("x", 99)+"\n", 1<<16))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		l := newLines(bytes.NewReader(text), 1<<20, place{})
		for {
			if _, err := l.next(); err != nil {
				break
			}
		}
	}
}
