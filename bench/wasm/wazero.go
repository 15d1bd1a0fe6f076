// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/nervix-go/nervix/bench/guests"
)

// wazero is bench/peers/wazero: the same module in another engine, in a process of its own with one core.
type wazero struct {
	dir     string
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
}

// startWazero builds and starts it. It is a module of its own, whose dependencies may have to be fetched.
func startWazero() (*wazero, error) {
	dir, err := os.MkdirTemp("", "nervix-bench-")
	if err != nil {
		return nil, err
	}
	z := &wazero{dir: dir}
	build := exec.Command("go", "build", "-C", "bench/peers", "-o", filepath.Join(dir, "wazero"), "./wazero")
	if text, err := build.CombinedOutput(); err != nil {
		z.close()
		return nil, fmt.Errorf("%w: %s", err, text)
	}
	z.process = exec.Command(filepath.Join(dir, "wazero"))
	z.process.Env = append(os.Environ(), "GOMAXPROCS=1")
	z.process.Stderr = os.Stderr
	if z.in, err = z.process.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := z.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	z.out = bufio.NewScanner(out)
	return z, z.process.Start()
}

// ask sends a line and gives the words behind the answer's ok.
func (z *wazero) ask(format string, args ...any) ([]string, error) {
	if _, err := fmt.Fprintf(z.in, format+"\n", args...); err != nil {
		return nil, err
	}
	if !z.out.Scan() {
		return nil, fmt.Errorf("the wazero process ended: %w", z.out.Err())
	}
	words := strings.Fields(z.out.Text())
	if len(words) == 0 || words[0] != "ok" {
		return nil, fmt.Errorf("wazero: %s", z.out.Text())
	}
	return words[1:], nil
}

// contender loads the guest of a processor with a batch of n rows.
func (z *wazero) contender(w *guests.World, name, processor string, n int, mode string) (contender, error) {
	init, batch, err := guests.Messages(w, processor, n)
	if err != nil {
		return contender{}, err
	}
	id := fmt.Sprint(processor, n, mode)
	files := []string{filepath.Join(z.dir, id+".init"), filepath.Join(z.dir, id+".batch")}
	for i, b := range [][]byte{init, batch} {
		if err := os.WriteFile(files[i], b, 0o600); err != nil {
			return contender{}, err
		}
	}
	if _, err := z.ask("load %s %s %s %s %s", id, mode, filepath.Join(modules, w.File(processor)), files[0], files[1]); err != nil {
		return contender{}, err
	}
	return contender{name, func(times int) *spent {
		words, err := z.ask("work %s %d", id, times)
		fail(err)
		var size int
		var s spent
		_, err = fmt.Sscan(strings.Join(words, " "), &size, &s.ns, &s.allocs, &s.bytes)
		fail(err)
		return &s
	}}, nil
}

func (z *wazero) close() {
	if z.process != nil {
		_ = z.in.Close()
		_ = z.process.Wait()
	}
	_ = os.RemoveAll(z.dir)
}
