// SPDX-License-Identifier: Apache-2.0

package jsoncodec

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"golang.org/x/sys/unix"

	codecs "github.com/nervix-go/nervix/host/codec"
	codec "github.com/nervix-go/nervix/host/codec/jsoncodec"
	"github.com/nervix-go/nervix/host/kernel/types"
)

// reading is the measured message: two texts, two numbers, an integer and a boolean.
type reading struct {
	Station string  `json:"station"`
	Region  string  `json:"region"`
	Level   float64 `json:"water_level"`
	Temp    float64 `json:"temperature"`
	Seq     int64   `json:"sequence"`
	Valid   bool    `json:"valid"`
}

const rows = 1024

// messages are the same payloads for all sides; digits is the precision of the numbers.
func messages(spaced bool, full bool) [][]byte {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([][]byte, rows)
	places := []string{"Upper Valley North", "Lower Valley South-East", "Harbour", "Old Mill Bridge (east bank)"}
	for i := range out {
		m := reading{
			Station: fmt.Sprintf("gauge-%05d-%s", r.IntN(99999), places[r.IntN(4)]), Region: places[r.IntN(4)],
			Level: float64(r.IntN(900000)) / 1000, Temp: float64(r.IntN(600)-200) / 10,
			Seq: 1_700_000_000_000 + r.Int64N(1e10), Valid: r.IntN(2) == 0,
		}
		if full {
			m.Level, m.Temp = r.Float64()*900, r.NormFloat64()*20
		}
		text, err := json.Marshal(m)
		if err != nil {
			panic(err)
		}
		if spaced {
			text = fmt.Appendf(nil, `{"station": %q, "region": %q, "water_level": %v, "temperature": %v, "sequence": %d, "valid": %v}`,
				m.Station, m.Region, m.Level, m.Temp, m.Seq, m.Valid)
		}
		out[i] = text
	}
	return out
}

// measure reports throughput by processor time of the whole process beside the one by the wall clock, which a busy machine spoils.
func measure(b *testing.B, size int64) {
	b.SetBytes(size)
	b.ReportAllocs()
	var before unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &before); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		var after unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &after); err != nil {
			b.Fatal(err)
		}
		spent := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
		b.ReportMetric(float64(size)*float64(b.N)*1e3/float64(spent), "MB/cpu-s")
	})
}

func plan(b *testing.B, mode codec.Mode) *codec.Plan {
	schema := types.NewSchema("reading", []types.Field{
		{Name: "station", Type: types.Of(types.String)}, {Name: "region", Type: types.Of(types.String)},
		{Name: "water_level", Type: types.Of(types.F64)}, {Name: "temperature", Type: types.Of(types.F64)},
		{Name: "sequence", Type: types.Of(types.I64)}, {Name: "valid", Type: types.Of(types.Bool)},
	})
	p, bad := codec.Bind(mode, []codec.WireField{
		{Name: "station", Type: codec.String}, {Name: "region", Type: codec.String}, {Name: "water_level", Type: codec.Number},
		{Name: "temperature", Type: codec.Number}, {Name: "sequence", Type: codec.Integer}, {Name: "valid", Type: codec.Boolean},
	}, schema, nil)
	if bad != nil {
		b.Fatal(bad)
	}
	return p
}

func column(lines [][]byte) (*array.Binary, int64) {
	builder := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.Binary)
	defer builder.Release()
	var size int64
	for _, l := range lines {
		builder.Append(l)
		size += int64(len(l))
	}
	return builder.NewBinaryArray(), size
}

func BenchmarkDecode(b *testing.B) {
	for _, c := range []struct {
		name         string
		spaced, full bool
		mode         codec.Mode
	}{{"compact", false, false, codec.Strict}, {"loose", false, false, codec.Loose}, {"spaced", true, false, codec.Strict}, {"digits17", false, true, codec.Strict}} {
		lines := messages(c.spaced, c.full)
		payloads, size := column(lines)
		b.Run(c.name, func(b *testing.B) {
			d := plan(b, c.mode).NewDecoder()
			measure(b, size)
			for b.Loop() {
				out, err := d.Decode(memory.DefaultAllocator, payloads, nil)
				if err != nil || out.Len() != rows {
					b.Fatal(err, out.Rejects)
				}
				out.Release()
			}
			b.ReportMetric(float64(size)/rows, "B/row")
		})
	}
}

func BenchmarkDecodeStd(b *testing.B) {
	lines := messages(false, false)
	_, size := column(lines)
	measure(b, size)
	out := make([]reading, rows)
	for b.Loop() {
		for i, l := range lines {
			out[i] = reading{}
			if err := json.Unmarshal(l, &out[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, full := range []bool{false, true} {
		name := map[bool]string{false: "compact", true: "digits17"}[full]
		b.Run(name, func(b *testing.B) {
			p := plan(b, codec.Strict)
			payloads, size := column(messages(false, full))
			decoded, err := p.NewDecoder().Decode(memory.DefaultAllocator, payloads, nil)
			if err != nil {
				b.Fatal(err)
			}
			record := array.NewRecordBatch(p.Schema().Arrow(), decoded.Columns, rows)
			e := p.NewEncoder()
			measure(b, size)
			var out codecs.Encoded
			for b.Loop() {
				if out, err = e.Encode(memory.DefaultAllocator, record, nil); err != nil || len(out.Rows) != rows {
					b.Fatal(err)
				}
				out.Release()
			}
		})
	}
}

func BenchmarkEncodeStd(b *testing.B) {
	lines := messages(false, false)
	_, size := column(lines)
	values := make([]reading, rows)
	for i, l := range lines {
		if err := json.Unmarshal(l, &values[i]); err != nil {
			b.Fatal(err)
		}
	}
	measure(b, size)
	for b.Loop() {
		for i := range values {
			if _, err := json.Marshal(&values[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkCopy(b *testing.B) {
	payloads, size := column(messages(false, false))
	src := payloads.Data().Buffers()[2].Bytes()
	dst := make([]byte, len(src))
	measure(b, size)
	for b.Loop() {
		copy(dst, src)
	}
}
