// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/shim"
	"github.com/nervix-go/nervix/wasm/verify"
)

// guestCommand holds what a node knows about guest modules without running a pipeline.
func guestCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "guest",
		Short: "Check guest modules of WASM processors",
		Args:  noArguments,
		RunE:  func(*cobra.Command, []string) error { return usage("name a command of guest: verify") },
	}
	cmd.AddCommand(guestVerifyCommand(), guestCompileCommand())
	return cmd
}

// guestVerifyCommand is `nervixd guest verify FILE`. Exits: 0 all checks hold, 1 some fail, 2 not a readable module.
func guestVerifyCommand() *cobra.Command {
	limits := verify.Limits()
	tool := verify.Tool{Out: os.Stdout, Err: os.Stderr, Options: verify.Options{
		Open: shim.Open, Profile: engine.ProfileGuard, Limits: limits, Compiler: guestCompiler(engine.ProfileGuard, limits)}}
	cmd := &cobra.Command{
		Use:   "verify FILE.wasm",
		Short: "Hold a guest module to the guest contract, one line a check",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("name one module file")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch tool.Run(cmd.Context(), args[0]) {
			case verify.ExitHolds:
				return nil
			case verify.ExitFails:
				return failed{}
			default:
				return unreadable{}
			}
		},
	}
	cmd.Flags().StringVar(&tool.Format, "format", "text", "text or jsonl")
	cmd.Flags().StringVar(&tool.SchemasFile, "schemas", "", "file with CREATE SCHEMA statements the guest was written for: one named input, one named like each relay")
	return cmd
}

// unreadable is a file that is no module; it was told already and exits like a wrong command line.
type unreadable struct{ failed }

// As lets the caller see a told failure and a usage error.
func (unreadable) As(target any) bool {
	switch t := target.(type) {
	case *failed:
		return true
	case *usageError:
		*t = usageError{"not a readable module"}
		return true
	default:
		return false
	}
}
