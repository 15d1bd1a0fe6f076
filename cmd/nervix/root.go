// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// The output formats.
const (
	formatTable = "table"
	formatJSONL = "jsonl"
)

// options are the flags.
type options struct {
	context, domain, format string
	onError                 string
	atomic                  bool
	commands, files         []string
}

const rootHelp = `nervix executes NSPL statements on a node.

The whole input is parsed first: a syntax error sends nothing. Then each statement is one request. USE changes the domain for the
statements after it. BEGIN and COMMIT work on the session of this run; a transaction that is still open at the end is reverted.

--atomic wraps all statements in one transaction of the domain named by --domain; the text may then hold no BEGIN, COMMIT, REVERT,
USE or CREATE DOMAIN. Consecutive changes of the model apply all or none; a START that fails keeps what was applied before it.

The context file (address, certificate authority, user, password) is that of --context, else of NERVIX_CONTEXT, else
nervix/context.json in the user's configuration folder. nervixd writes context.json into its data folder.

Exits: 0 done, 1 refused or failed, 2 usage or local syntax, 3 uncertain, 4 cannot connect, 5 authentication.`

const rootExample = `  nervix --context data/context.json -f pipeline.nspl
  nervix --domain weather -c 'SHOW INGESTORS' -c 'DESCRIBE RELAY observations FORMAT JSON'
  nervix --domain weather -c 'SHOW CREATE RELAY observations' | nervix --domain copy -f -`

func rootCommand(t terminal) *cobra.Command {
	var o options
	root := &cobra.Command{
		Use:               "nervix [flags] (-c TEXT ... | -f FILE | -f -)",
		Short:             "Nervix command line client",
		Long:              rootHelp,
		Example:           rootExample,
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args:              none("statements come with -c TEXT or -f FILE, and the commands are status, check, domain-clock, upload and version"),
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return checkFormat(o.format, cmd.Name()) },
		RunE:              func(cmd *cobra.Command, _ []string) error { return statements(cmd.Context(), t, o) },
	}
	shared := root.PersistentFlags()
	shared.StringVar(&o.context, "context", "", "context file")
	shared.StringVar(&o.domain, "domain", "", "domain of the statements until a USE")
	shared.StringVar(&o.format, "format", formatTable, "table or jsonl: one JSON object a statement")
	own := root.Flags()
	own.StringVar(&o.onError, "on-error", "stop", "stop or continue after a statement that was refused or failed")
	own.BoolVar(&o.atomic, "atomic", false, "wrap the statements in one transaction")
	own.StringArrayVarP(&o.commands, "command", "c", nil, "statements; may be repeated")
	own.StringArrayVarP(&o.files, "file", "f", nil, "file of statements, - for standard input")
	root.AddCommand(statusCommand(t, &o), checkCommand(t, &o), domainClockCommand(t, &o), uploadCommand(t, &o), versionCommand(t, &o))
	root.Version = version // makes the flag --version
	root.SetVersionTemplate(thisVersion().line())
	root.SetOut(t.out)
	root.SetErr(t.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		text, _, _ := strings.Cut(err.Error(), " in -") // what follows quotes the whole argument
		return usage(text)
	})
	return root
}

// none refuses positional arguments without quoting them.
func none(text string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return usage("unexpected argument: " + text)
		}
		return nil
	}
}

func checkFormat(format, command string) error {
	if format == formatTable || format == formatJSONL || command == "version" && format == "json" {
		return nil
	}
	return usage(fmt.Sprintf("--format %q is unknown: use table or jsonl", format))
}

// statements is nervix without a command.
func statements(ctx context.Context, t terminal, o options) error {
	if o.onError != "stop" && o.onError != "continue" {
		return usage(fmt.Sprintf("--on-error %q is unknown: use stop or continue", o.onError))
	}
	if o.atomic && o.onError == "continue" {
		return usage("--atomic applies all statements or none, so --on-error continue has no meaning with it")
	}
	text, err := readInput(t.in, o)
	if err != nil {
		return err
	}
	p := printer{terminal: t, format: o.format}
	src, defects := parseSource(text)
	if len(defects) == 0 && o.atomic {
		defects = notAtomic(src)
	}
	if len(defects) > 0 {
		p.defects(src, defects)
		return exit(exitUsage, "nothing was sent")
	}
	if len(src.statements) == 0 {
		return nil
	}
	if o.atomic && o.domain == "" {
		return usage("--atomic needs --domain, because a transaction belongs to one domain")
	}
	c, err := connect(ctx, t, o)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	b := &batch{node: c, source: src, domain: strings.ToLower(o.domain), keepGoing: o.onError == "continue", print: p}
	if o.atomic {
		return told(b.atomic(ctx))
	}
	code := b.run(ctx)
	p.staleContext(o, b.altered)
	return told(code)
}
