// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/engine/shim"
)

// guestCompiler compiles modules in a process of its own: a module may keep the compiler busy for minutes, and nothing bounds it in this one
// (pain: A09). profile is a resolved one, lim the limits of the engine that runs the code. The process is this program, as it was started:
// a binary that was replaced meanwhile would make code of another version.
func guestCompiler(profile engine.Profile, lim engine.Limits) engine.Compiler {
	return shim.Options{}.Isolated(profile, lim, "/proc/self/exe", "guest", "compile")
}

// guestCompileCommand is the process behind guestCompiler. It reads a module on standard input and writes code on standard output.
func guestCompileCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "compile PROFILE STACK TRUST",
		Hidden: true,
		Args:   cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := shim.CompileMain(args, os.Stdin, os.Stdout); err != nil {
				fmt.Fprintln(os.Stderr, err) // the caller takes it as the text of its error
				return failed{}
			}
			return nil
		},
	}
}
