// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

const checkHelp = `check reads a file, or standard input for -, without a node.

The text is parsed. Then the statements of each domain that the text itself creates with CREATE DOMAIN are checked as a node would check
them, up to the first that would be refused: names, types, routes, cycles, and changes of a running domain. What only a node knows is not
checked: statements in other domains, the connectors that are installed, the file root.

Exits: 0 no defects, 1 a statement would be refused, 2 usage or syntax.`

func checkCommand(t terminal, o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Read a file without a node",
		Long:  checkHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("check takes one file")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := readFile(t.in, args[0])
			if err != nil {
				return err
			}
			p := printer{terminal: t, format: o.format}
			src, defects := parseSource(text)
			if len(defects) > 0 {
				p.defects(src, defects)
				return told(exitUsage)
			}
			checked, defects := checkModels(src.statements)
			if len(defects) > 0 {
				p.defects(src, defects)
				return told(exitFailed)
			}
			if o.format == formatTable {
				fmt.Fprintf(t.out, "%s parsed, %d of them definitions that were checked as a whole; no defects\n", describe(len(src.statements), "statement"), checked)
			}
			return nil
		},
	}
}
