// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// resultsFile names the file in which measurements note what the table of goals needs.
const resultsFile = "NERVIX_BENCH_RESULTS"

// note keeps a result; without a file, when a part runs alone, it does nothing.
func note(key, format string, args ...any) {
	name := os.Getenv(resultsFile)
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	fail(err)
	_, err = fmt.Fprintf(f, "%s\t%s\n", key, fmt.Sprintf(format, args...))
	fail(err)
	fail(f.Close())
}

// results are the notes of all parts.
func results(name string) map[string]string {
	f, err := os.Open(name)
	fail(err)
	defer func() { _ = f.Close() }()
	out := map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), "\t"); ok {
			out[key] = value
		}
	}
	return out
}

// goals prints what issue 3 asks for beside what was measured.
func goals(r map[string]string) {
	fmt.Println("\n| goal | measured |\n|---|---|")
	for _, g := range [][2]string{
		{"host cost of an operation without guest work: 2 us and 2 allocations", "an operation of the engine with a message of 64 bytes: " + r["operation"] + ". A callback of the node, which is two operations, without guest and crossings: " + r["callback"]},
		{"pass-through by reference: 100 million rows/s and core", "8,192 rows: processor " + r["copying processor"] + ", of which guest and crossings alone would do " + r["copying guest"] + "; junction " + r["copying junction"]},
		{"at most 3 x native Go", "running mean over 8,192 rows, beside a loop in Go that tracks no rows: guest alone " + r["counting guest x"] + ", processor " + r["counting processor x"] + "; one column over 8,192 rows: guest alone " + r["numbering guest x"] + ", processor " + r["numbering processor x"]},
		{"15 us an instance", "C guest with its init call, p50 / p99: guard " + r["instance guard"] + ", dense " + r["instance dense"]},
		{"12 KiB an idle branch", "100,000 branches of the C guest, dense: " + r["branch 100000"] + "; 100,000 stores of the plain guest: " + r["store 100000"]},
		{"A07: a million batches, flat", r["soak"]},
		{"A16: at most one growth of the guest for each growth of the batches", r["growths"]},
		{"A19: price of fuel and epoch, guard / dense", r["metering"]},
	} {
		fmt.Printf("| %s | %s |\n", g[0], g[1])
	}
}
