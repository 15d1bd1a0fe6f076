// SPDX-License-Identifier: Apache-2.0

// Command datapath measures the data path between host and connector process beside a raw copy of the same bytes over the same kind of
// socket, in one run:
//
//	go run ./bench/datapath [-batch 131072] [-row 100] [-seconds 2] [-rounds 3]
//
// It starts itself as the child. Rates count payload bytes. `batch` columns are the time from one received batch to the next under
// load; `round trip` is one batch at a time, answered by an empty frame after the receiver decoded and checked it.
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/nervix-go/nervix/host/arrowipc"
	"github.com/nervix-go/nervix/host/osclock"
	"github.com/nervix-go/nervix/plugins/wire"
)

var (
	batchBytes = flag.Int("batch", 128<<10, "payload bytes of a batch")
	rowBytes   = flag.Int("row", 100, "payload bytes of a row")
	duration   = flag.Duration("time", time.Second, "length of one measurement")
	rounds     = flag.Int("rounds", 3, "measurements of each kind; the median is printed")
	child      = flag.String("child", "", "internal: the mode of the child")
)

const window = 8 // batches of credit

var schema = arrow.NewSchema([]arrow.Field{
	{Name: "payload", Type: arrow.BinaryTypes.Binary},
	{Name: "position", Type: arrow.BinaryTypes.Binary},
	{Name: "line", Type: arrow.PrimitiveTypes.Int64},
}, nil)

func main() {
	flag.Parse()
	if *child != "" {
		conn, err := wire.FromFile(os.NewFile(3, "data"))
		check(err)
		run(*child, conn)
		return
	}
	fmt.Printf("%s %s, %d cores, batch %d KiB, row %d B, %d rounds of %v\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), *batchBytes>>10, *rowBytes, *rounds, *duration)
	fmt.Printf("%-24s %10s %12s %12s\n", "", "MB/s", "p50 us", "p99 us")
	for _, mode := range []struct{ name, child, host string }{
		{"raw to connector", "rawread", "rawwrite"},
		{"raw to host", "rawwrite", "rawread"},
		{"batches to connector", "read", "write"},
		{"batches to host", "write", "read"},
		{"round trip", "answer", "ask"},
	} {
		var all []result
		for range *rounds {
			all = append(all, once(mode.child, mode.host))
		}
		slices.SortFunc(all, func(a, b result) int { return int(a.rate - b.rate) })
		m := all[len(all)/2]
		fmt.Printf("%-24s %10.0f %12.1f %12.1f   (rates %.0f..%.0f)\n", mode.name, m.rate, m.p50, m.p99, all[0].rate, all[len(all)-1].rate)
	}
}

type result struct{ rate, p50, p99 float64 }

func once(childMode, hostMode string) result {
	host, other, err := wire.Pair()
	check(err)
	self, err := os.Executable()
	check(err)
	cmd := exec.Command(self, "-child", childMode, "-batch", strconv.Itoa(*batchBytes), "-row", strconv.Itoa(*rowBytes), "-time", duration.String())
	cmd.ExtraFiles = []*os.File{other}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	check(err)
	check(cmd.Start())
	check(other.Close())
	r := run(hostMode, host)
	var c result
	_, _ = fmt.Fscan(out, &c.rate, &c.p50, &c.p99)
	check(cmd.Wait())
	if c.rate > 0 {
		return c // the receiver measures
	}
	return r
}

func run(mode string, c net.Conn) result {
	var r result
	switch mode {
	case "rawwrite":
		rawWrite(c)
	case "rawread":
		r = rawRead(c)
	case "write":
		write(wire.New(c, wire.DefaultMaxBody))
	case "read":
		r = read(wire.New(c, wire.DefaultMaxBody))
	case "ask":
		r = ask(wire.New(c, wire.DefaultMaxBody))
	case "answer":
		answer(wire.New(c, wire.DefaultMaxBody))
	}
	_ = c.Close()
	if *child != "" && r.rate > 0 {
		fmt.Println(r.rate, r.p50, r.p99)
	}
	return r
}

// deadline tells when the sender stops.
func deadline() func() bool {
	end := osclock.Mono().Add(*duration)
	return func() bool { return osclock.Mono().Sub(end) >= 0 }
}

func rawWrite(c net.Conn) {
	b := make([]byte, *batchBytes)
	for over := deadline(); !over(); {
		if _, err := c.Write(b); err != nil {
			return
		}
	}
}

func rawRead(c net.Conn) result {
	b := make([]byte, *batchBytes)
	m := meter{start: osclock.Mono()}
	for {
		for at := 0; at < len(b); {
			n, err := c.Read(b[at:])
			if err != nil {
				return m.result()
			}
			at += n
		}
		m.took(len(b))
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "datapath:", err)
		os.Exit(1)
	}
}

// batch is what a connector builds: bare columns.
type batch struct {
	rows    int
	nodes   []arrowipc.Node
	columns [][]byte
}

func newBatch() batch {
	rows := max(1, *batchBytes / *rowBytes)
	payload := make([]byte, rows**rowBytes)
	position := make([]byte, rows*24)
	offsets, positions, lines := make([]int32, rows+1), make([]int32, rows+1), make([]int64, rows)
	for i := range rows {
		offsets[i+1], positions[i+1], lines[i] = int32((i+1)**rowBytes), int32((i+1)*24), int64(i)
	}
	n := arrowipc.Node{Rows: rows}
	return batch{rows, []arrowipc.Node{n, n, n}, [][]byte{
		nil, arrowipc.AsBytes(offsets), payload, nil, arrowipc.AsBytes(positions), position, nil, arrowipc.AsBytes(lines),
	}}
}

func (b batch) send(c *wire.Conn, e *arrowipc.Encoder) error {
	parts, _, err := e.EncodeRaw(b.rows, b.nodes, b.columns)
	check(err)
	return c.Write(wire.Header{Kind: wire.KindBatch, Channel: 1}, parts...)
}

// write sends batches under credit.
func write(c *wire.Conn) {
	b, credit := newBatch(), make(chan int, 1<<16)
	go func() {
		for {
			h, _, err := c.Read(accept)
			if err != nil {
				close(credit)
				return
			}
			credit <- int(h.Count)
		}
	}()
	var e arrowipc.Encoder
	left := window
	for over := deadline(); !over(); {
		for left == 0 {
			n, ok := <-credit
			if !ok {
				return
			}
			left += n
		}
		left--
		if b.send(c, &e) != nil {
			return
		}
	}
}

func accept(wire.Header) error { return nil }

// read decodes and checks batches and grants credit, as the host does.
func read(c *wire.Conn) result {
	r, err := arrowipc.NewReader(schema, arrowipc.Limits{})
	check(err)
	m := meter{start: osclock.Mono()}
	pending := 0
	for {
		_, body, err := c.Read(accept)
		if err != nil {
			return m.result()
		}
		rec, err := r.Decode(body)
		check(err)
		body.Release()
		m.took(int(rec.NumRows()) * *rowBytes)
		rec.Release()
		if pending++; pending == window/2 {
			_ = c.Write(wire.Header{Kind: wire.KindGrant, Channel: 1, Count: uint32(pending)})
			pending = 0
		}
	}
}

func ask(c *wire.Conn) result {
	b := newBatch()
	var e arrowipc.Encoder
	m := meter{start: osclock.Mono()}
	for over := deadline(); !over(); {
		check(b.send(c, &e))
		_, _, err := c.Read(accept)
		check(err)
		m.took(b.rows * *rowBytes)
	}
	return m.result()
}

func answer(c *wire.Conn) {
	r, err := arrowipc.NewReader(schema, arrowipc.Limits{})
	check(err)
	for {
		_, body, err := c.Read(accept)
		if err != nil {
			return
		}
		rec, err := r.Decode(body)
		check(err)
		body.Release()
		rec.Release()
		check(c.Write(wire.Header{Kind: wire.KindAnswer, Channel: 1}))
	}
}
