// SPDX-License-Identifier: Apache-2.0

// Command nervix is the command line client of a Nervix node.
//
//	nervix -c TEXT | -f FILE   executes NSPL statements, one request each
//	nervix status              shows the node and its connectors
//	nervix check FILE          reads a file without a node
//	nervix domain-clock        follows the clock of a domain
//	nervix upload RESOURCE DIR sends a folder as a new version of a resource
//	nervix version             prints version, commit, Go and grammar version
//
// The whole input is parsed before anything is sent. A transaction opened by BEGIN belongs to the one session of the run, and the node
// reverts it when the run ends without COMMIT.
//
// Standard output carries results only; everything else goes to standard error. What may hold a password is never printed.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// The exit codes of nervix.
const (
	exitDone           = 0
	exitFailed         = 1
	exitUsage          = 2
	exitUncertain      = 3
	exitConnect        = 4
	exitAuthentication = 5
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], terminal{os.Stdin, os.Stdout, os.Stderr, os.Getenv}))
}

// terminal is what a run reads from and writes to.
type terminal struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
}

// exitError ends the run with a code. An empty text means that the reason was told already.
type exitError struct {
	code int
	text string
}

func (e *exitError) Error() string { return e.text }

func exit(code int, format string, args ...any) error {
	return &exitError{code, fmt.Sprintf(format, args...)}
}

// usage is a wrong command line. It must not quote an argument, which could be a statement with a password.
func usage(text string) error { return exit(exitUsage, "%s (see nervix --help)", text) }

// told ends the run with a code whose reason was told; nil for exitDone.
func told(code int) error {
	if code == exitDone {
		return nil
	}
	return &exitError{code: code}
}

func run(ctx context.Context, args []string, t terminal) int {
	root := rootCommand(t)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	var e *exitError
	if !errors.As(err, &e) {
		e = &exitError{exitFailed, err.Error()}
	}
	if e.text != "" {
		fmt.Fprintln(t.err, "nervix:", e.text)
	}
	return e.code
}
