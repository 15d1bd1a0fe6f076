// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	_ "embed"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// prices are the accepted multiples of metering, one a line: workload, meter, multiple. `go run ./bench/wasm prices` prints new ones.
//
//go:embed prices.txt
var prices string

// more is how much a multiple may grow before the gate fails (A19).
const more = 1.10

// gated are the meters that run in production.
var gated = map[string]bool{"guard, both": true, "dense, both": true}

// steady leaves out loops that wait for memory most of the time, whose multiples say more about the machine than about metering.
func steady(all []priced) []priced {
	return slices.DeleteFunc(all, func(p priced) bool {
		return strings.HasPrefix(p.name, "histogram") || strings.HasPrefix(p.name, "the same")
	})
}

// price is a multiple that a busy machine disturbs less than the median: of the tenth percentiles.
func price(f, free figure) float64 { return f.low / free.low }

// gate measures the price of metering again and fails if it grew by more than a tenth over what is accepted. A workload that seems to have grown is
// measured twice more, because a single run can be unlucky.
func gate() {
	accepted := acceptedPrices()
	failed := false
	all, shut := pricedWork()
	for _, p := range steady(all) {
		least := map[string]float64{}
		for try := range 3 {
			figures := compare(21, p.ways)
			worse := false
			for _, f := range figures {
				if !gated[f.name] {
					continue
				}
				if v := price(f, figures[0]); try == 0 || v < least[f.name] {
					least[f.name] = v
				}
				worse = worse || least[f.name] > accepted[p.name+"|"+f.name]*more
			}
			if !worse {
				break
			}
		}
		for _, m := range meters {
			if !gated[m.name] {
				continue
			}
			want, known := accepted[p.name+"|"+m.name]
			if got := least[m.name]; !known || got > want*more {
				failed = true
				fmt.Fprintf(os.Stderr, "%s with %s takes %.2f times the time without metering; accepted is %.2f\n", p.name, m.name, got, want)
			}
		}
	}
	shut()
	if failed {
		os.Exit(1)
	}
	fmt.Println("\nThe price of metering has not grown by more than a tenth.")
}

func acceptedPrices() map[string]float64 {
	out := map[string]float64{}
	lines := bufio.NewScanner(strings.NewReader(prices))
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "|")
		if len(fields) != 3 {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(fields[2]), 64)
		fail(err)
		out[strings.TrimSpace(fields[0])+"|"+strings.TrimSpace(fields[1])] = v
	}
	return out
}

// printPrices measures what the gate accepts from now on.
func printPrices() {
	all, shut := pricedWork()
	for _, p := range steady(all) {
		figures := compare(41, p.ways)
		for _, f := range figures {
			if !gated[f.name] {
				continue
			}
			fmt.Printf("%s | %s | %.2f\n", p.name, f.name, price(f, figures[0]))
		}
	}
	shut()
}
