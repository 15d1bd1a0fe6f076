// SPDX-License-Identifier: Apache-2.0

package shim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nervix-go/nervix/wasm/engine"
)

// compilerBytes is the address space of a compiling process: enough for the largest module, too little to harm the node.
const compilerBytes = 8 << 30

// Isolated is an engine.Compiler that runs CompileMain in a process of its own, with a low priority, and kills it when its context ends.
// path is a program that hands the last three arguments to CompileMain, args what comes before them. profile is a resolved one.
func (x Options) Isolated(profile engine.Profile, lim engine.Limits, path string, args ...string) engine.Compiler {
	lim.EnsureDefaults()
	args = append(args[:len(args):len(args)], profile.String(), strconv.FormatUint(lim.StackBytes, 10), strconv.FormatBool(x.Trusted))
	return func(ctx context.Context, wasm []byte) ([]byte, error) {
		var out, told bytes.Buffer
		c := exec.CommandContext(ctx, path, args...)
		c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(wasm), &out, &told
		c.WaitDelay = time.Second
		if err := c.Run(); err != nil {
			if text := strings.TrimSpace(told.String()); text != "" && c.ProcessState != nil && c.ProcessState.ExitCode() == 1 {
				return nil, errors.New(text)
			}
			return nil, fmt.Errorf("the compiling process ended with %w", err)
		}
		return out.Bytes(), nil
	}
}

// CompileMain is the process behind Isolated: it compiles the module it reads and writes the code. args are profile, stack and trust. The
// error is for standard error and exit status 1.
func CompileMain(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 3 {
		return errors.New("compiling a guest takes a profile, a stack size and a trust")
	}
	profile, err := engine.ParseProfile(args[0])
	stack, err2 := strconv.ParseUint(args[1], 10, 64)
	trusted, err3 := strconv.ParseBool(args[2])
	if err := errors.Join(err, err2, err3); err != nil {
		return err
	}
	wasm, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if err := errors.Join(unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: compilerBytes, Max: compilerBytes}), unix.Setpriority(unix.PRIO_PROCESS, 0, 10)); err != nil {
		return err
	}
	b, err := Options{Trusted: trusted}.Open(engine.BackendOptions{Dense: profile == engine.ProfileDense, StackBytes: stack})
	if err != nil {
		return err
	}
	defer b.Close()
	code, err := b.Compile(wasm)
	if err != nil {
		return err
	}
	defer code.Close()
	stored, err := code.Serialize()
	if err != nil {
		return err
	}
	_, err = out.Write(stored)
	return err
}
