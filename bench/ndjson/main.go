// SPDX-License-Identifier: Apache-2.0

// Command ndjson compares pipelines that read an NDJSON file, keep the lines whose message contains a word, turn the message to upper case and
// write an NDJSON file, with acknowledgements on. The figure is input MiB per second of processor time, user and system together, of the whole
// process tree.
//
//	go run ./bench/ndjson -nervixd bin/nervixd -peers bench-out/peers
//
// Compared in turn, several times: Nervix with its connector processes; Benthos (bench/peers); a hand-written bufio + encoding/json loop;
// and the codec and expression kernels of Nervix in one process without relays, acknowledgements or connector.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

func main() {
	nervixd := flag.String("nervixd", "bin/nervixd", "the daemon")
	peers := flag.String("peers", "", "the Benthos binary built from bench/peers; empty leaves it out")
	folder := flag.String("dir", "bench-out", "working folder")
	lines := flag.Int("lines", 1_000_000, "input lines")
	rounds := flag.Int("rounds", 5, "runs of each")
	mode := flag.String("mode", "", "internal: run one contender in this process")
	flag.Parse()
	dir, err := filepath.Abs(*folder)
	check(err)
	check(os.MkdirAll(dir, 0o755))
	input, output := filepath.Join(dir, "in.ndjson"), filepath.Join(dir, "out.ndjson")
	switch *mode {
	case "loop":
		check(loop(input, output))
		return
	case "kernels":
		check(kernels(input, output))
		return
	}
	bytes, kept := generate(input, *lines)
	self, err := os.Executable()
	check(err)
	contenders := []contender{
		{"nervix", nervixCommand(*nervixd, dir)},
		{"kernels in one process", []string{self, "-dir", dir, "-mode", "kernels"}},
		{"bufio + encoding/json", []string{self, "-dir", dir, "-mode", "loop"}},
	}
	if *peers != "" {
		contenders = append(contenders, contender{"benthos v4.60.0", benthosCommand(*peers, dir)})
	}
	fmt.Printf("machine: %s, %d processors, %s %s/%s\n", processor(), runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	fmt.Printf("input: %d lines, %.1f MiB; %d lines are kept; %d rounds, interleaved\n\n", *lines, mib(bytes), kept, *rounds)
	results := make([][]result, len(contenders))
	for range *rounds {
		for i, c := range contenders {
			_ = os.Remove(output)
			results[i] = append(results[i], c.run(output, kept))
		}
	}
	fmt.Printf("%-24s %28s %12s %12s\n", "", "MiB/s/core median (min..max)", "cpu s", "wall s")
	for i, c := range contenders {
		report(c.name, bytes, results[i])
	}
	profile(*nervixd, dir, output)
}

type contender struct {
	name    string
	command []string
}

type result struct{ cpu, wall time.Duration }

// run measures one run of a process tree; the processes it started are waited for by it, so that its usage holds theirs.
func (c contender) run(output string, kept int) result {
	cmd := exec.Command(c.command[0], c.command[1:]...)
	cmd.Stdout, cmd.Stderr = nil, nil
	began := time.Now()
	if err := cmd.Run(); err != nil {
		fmt.Fprintf(os.Stderr, "%s failed: %v\n", c.name, err)
		os.Exit(1)
	}
	wall := time.Since(began)
	if got := countLines(output); got != kept {
		fmt.Fprintf(os.Stderr, "%s wrote %d lines, want %d\n", c.name, got, kept)
		os.Exit(1)
	}
	return result{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), wall}
}

func report(name string, bytes int64, results []result) {
	rates := make([]float64, len(results))
	for i, r := range results {
		rates[i] = mib(bytes) / r.cpu.Seconds()
	}
	slices.Sort(rates)
	slices.SortFunc(results, func(a, b result) int { return int(a.cpu - b.cpu) })
	mid := results[len(results)/2]
	fmt.Printf("%-24s %10.1f (%.1f..%.1f) %20.2f %12.2f\n",
		name, rates[len(rates)/2], rates[0], rates[len(rates)-1], mid.cpu.Seconds(), mid.wall.Seconds())
}

// profile prints where the daemon spends its time in one more run.
func profile(nervixd, dir, output string) {
	_ = os.Remove(output)
	file := filepath.Join(dir, "cpu.prof")
	command := append(nervixCommand(nervixd, dir), "--cpu-profile", file)
	if err := exec.Command(command[0], command[1:]...).Run(); err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
		return
	}
	out, err := exec.Command("go", "tool", "pprof", "-top", "-nodecount=25", nervixd, file).Output()
	check(err)
	fmt.Printf("\nprofile of the daemon (connector process not included):\n%s", out)
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// processor is the processor's name.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "ndjson:", err)
		os.Exit(1)
	}
}
