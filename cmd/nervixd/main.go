// SPDX-License-Identifier: Apache-2.0

// Command nervixd is the host daemon of a Nervix node.
//
//	nervixd dev   one node for development and production of one host: sessions, admin endpoint, connectors
//	nervixd guest verify   holds a guest module to the guest contract
//	nervixd run   applies one NSPL file, runs it until its finite sources are finished, and prints a summary
//
// Exits: 0 drained, 1 failure, 2 usage, 3 data folder locked, foreign, newer or damaged.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/nervix-go/nervix/host/kernel/fault"
)

// The exit codes of nervixd.
const (
	exitDrained = 0
	exitFailure = 1
	exitUsage   = 2
	exitData    = 3
)

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	root := &cobra.Command{
		Use:           "nervixd",
		Short:         "Nervix host daemon",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(fmt.Sprintf("unknown command %q: use dev, run, guest or version", args[0]))
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error { return usage("name a command: dev, run, guest or version") },
	}
	root.AddCommand(devCommand(), runCommand(), guestCommand(), versionCommand())
	root.Version = version // makes the flag --version
	root.SetVersionTemplate(versionLine())
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err.Error()) })
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return exitDrained
	}
	var silent failed
	if !errors.As(err, &silent) {
		fmt.Fprintln(os.Stderr, "nervixd:", err)
	}
	return exitOf(err)
}

// usageError is a wrong command line.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text + " (see nervixd --help)" }

func usage(text string) error { return usageError{text} }

// failed is a failure that was told already.
type failed struct{}

func (failed) Error() string { return "failed" }

func exitOf(err error) int {
	var u usageError
	switch {
	case errors.As(err, &u):
		return exitUsage
	case fault.Has(err, fault.DaemonLocked), fault.Has(err, fault.DaemonForeign), fault.Has(err, fault.DaemonNewer), fault.Has(err, fault.DaemonDamaged):
		return exitData
	default:
		return exitFailure
	}
}

// noArguments refuses positional arguments as a wrong command line.
func noArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(fmt.Sprintf("unexpected argument %q", args[0]))
	}
	return nil
}
