// SPDX-License-Identifier: Apache-2.0

// Command ticks measures the clocks of a real node, which it starts itself.
//
//	go run ./bench/clock/ticks -nervixd bin/nervixd
//	go run ./bench/clock/ticks -nervixd bin/nervixd -domains 10000
//
// The first form follows one paced domain for each period from a client on the same machine. It tells how long after a boundary the authority
// emitted the tick, and how long after that emission the client had it: UTC at the receipt less the authority UTC in the tick, so both ends
// read the same clock. Ticks that were coalesced are counted, not measured.
//
// The second form creates and starts that many paced domains, lets the node rest, and tells what it holds and what it uses with nobody following.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"time"
)

func main() {
	nervixd := flag.String("nervixd", "bin/nervixd", "the daemon")
	length := flag.Duration("for", 20*time.Second, "how long each period is followed, and how long a resting node is watched")
	domains := flag.Int("domains", 0, "measure a node with this many paced domains instead")
	flag.Parse()
	fmt.Printf("machine: %d processors, %s %s/%s\n", runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	n, err := start(*nervixd)
	if err == nil {
		if *domains > 0 {
			err = n.rest(*domains, *length)
		} else {
			err = n.follow(*length, 100*time.Millisecond, 10*time.Millisecond)
		}
		n.stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ticks:", err)
		os.Exit(1)
	}
}
