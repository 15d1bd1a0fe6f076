// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nervix-go/nervix/host/osclock"
)

// rest measures a node with many paced domains that nobody follows. Their ticks come once a minute.
func (n *node) rest(domains int, length time.Duration) error {
	before, err := n.usage()
	if err != nil {
		return err
	}
	began := osclock.Mono()
	if err := each(domains, func(i int) error {
		return n.do("", fmt.Sprintf("CREATE PACED DOMAIN %s WITH PERIOD 1m SKEW 1s", name(i)))
	}); err != nil {
		return err
	}
	created := osclock.Mono()
	if err := each(domains, func(i int) error { return n.do(name(i), "START") }); err != nil {
		return err
	}
	started := osclock.Mono()
	fmt.Printf("%d domains: created in %s, started in %s\n", domains, created.Sub(began).Round(time.Millisecond), started.Sub(created).Round(time.Millisecond))
	_ = osclock.Wait(context.Background(), 5*time.Second)
	from, err := n.usage()
	if err != nil {
		return err
	}
	at := osclock.Mono()
	_ = osclock.Wait(context.Background(), length)
	to, err := n.usage()
	if err != nil {
		return err
	}
	fmt.Printf("memory of the node: %.1f MiB, before %.1f MiB, %.1f KiB a domain\n", to.resident/(1<<20), before.resident/(1<<20),
		(to.resident-before.resident)/1024/float64(domains))
	fmt.Printf("processor while it rests, over %s: %.2f %% of a core\n", length, 100*(to.cpu-from.cpu).Seconds()/osclock.Mono().Sub(at).Seconds())
	return nil
}

func name(i int) string { return fmt.Sprintf("rest_%05d", i) }

// each calls f for every number below n, several at once, until one fails.
func each(n int, f func(i int) error) error {
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var work sync.WaitGroup
	for range 16 {
		work.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && failed.Load() == nil; i = next.Add(1) - 1 {
				if err := f(int(i)); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	work.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

type usage struct {
	resident float64 // bytes
	cpu      time.Duration
}

// usage reads what the node holds and used so far.
func (n *node) usage() (usage, error) {
	folder := "/proc/" + strconv.Itoa(n.cmd.Process.Pid)
	stat, err := os.ReadFile(folder + "/stat")
	if err != nil {
		return usage{}, err
	}
	// pid (name) state ..., ticks of a hundredth of a second in fields 14 and 15; the name may hold anything but ends at the last parenthesis.
	fields := strings.Fields(string(stat)[strings.LastIndexByte(string(stat), ')')+1:])
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	pages, err3 := strconv.Atoi(fields[21])
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			return usage{}, err
		}
	}
	return usage{resident: float64(pages * os.Getpagesize()), cpu: time.Duration(user+system) * 10 * time.Millisecond}, nil
}
