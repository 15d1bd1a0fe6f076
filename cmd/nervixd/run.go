// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/pprof"
	"time"

	"github.com/spf13/cobra"

	"github.com/nervix-go/nervix/host/control"
	"github.com/nervix-go/nervix/host/datadir"
	"github.com/nervix-go/nervix/host/engine"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/nspl/ast"
	"github.com/nervix-go/nervix/host/nspl/parse"
	"github.com/nervix-go/nervix/host/observe"
	"github.com/nervix-go/nervix/host/osclock"
)

// How `nervixd run` watches for its end.
const (
	watchEvery = 20 * time.Millisecond
	// stuckAfter is how long nothing may move while a sink reports an error before the run gives up.
	stuckAfter = 15 * time.Second
	// stuckDrain bounds the drain of a run that gave up.
	stuckDrain = time.Second
	// blockedAfter is how long a source stays blocked, with all else settled, before the run ends.
	blockedAfter = time.Second
)

type runOptions struct {
	data, connectors, fileRoot string
	format, logFormat          string
	drain                      time.Duration
	cpuProfile                 string
	guests                     guestOptions
}

func runCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run FILE.nspl",
		Short: "Apply a file, run it until its finite sources are finished, print a summary",
		Long: `run applies a file as "nervix -f" does, runs it until its finite sources are finished, and prints a summary. The file ends with START.

Without --data nothing is kept: each run reads its sources from the beginning. Exits: 0 finished, 1 a statement was refused or a source is blocked,
2 usage, 3 data folder locked, foreign, newer or damaged.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage("run takes one file")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return runFile(args[0], o) },
	}
	f := c.Flags()
	f.StringVar(&o.data, "data", "", "data folder (default: a temporary one, removed afterwards)")
	f.StringVar(&o.connectors, "connectors", "", "folder of connectors (default: connectors beside this binary)")
	f.StringVar(&o.fileRoot, "file-root", "", "folder below which files may be read and written (default: the working directory)")
	f.StringVar(&o.format, "format", "text", "text or jsonl")
	f.StringVar(&o.logFormat, "log-format", "text", "text or json")
	f.DurationVar(&o.drain, "drain-timeout", 30*time.Second, "how long admitted work may settle on a stop")
	o.guests.flags(f)
	f.StringVar(&o.cpuProfile, "cpu-profile", "", "write a CPU profile of the daemon to this file")
	return c
}

func runFile(path string, o runOptions) error {
	if o.format != "text" && o.format != "jsonl" {
		return usage(fmt.Sprintf("--format %q is unknown: use text or jsonl", o.format))
	}
	if err := o.guests.check(); err != nil {
		return err
	}
	log, err := observe.NewLogger(os.Stderr, o.logFormat)
	if err != nil {
		return usage(err.Error())
	}
	if o.fileRoot, err = fileRoot(o.fileRoot); err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	source := string(text)
	statements, diagnostics := parse.Text(source)
	if len(diagnostics) > 0 {
		tell(source, diagnostics)
		return failed{} // nothing was applied
	}
	if o.data == "" {
		if o.data, err = os.MkdirTemp("", "nervix-run-"); err != nil {
			return err
		}
		defer os.RemoveAll(o.data)
	}
	ctx, stop := stopSignals()
	defer stop()
	n, err := openNode(ctx, nodeOptions{data: o.data, connectors: o.connectors, fileRoot: o.fileRoot, log: log, guests: o.guests})
	if err != nil {
		return err
	}
	stopProfile, err := startProfile(o.cpuProfile)
	if err != nil {
		return errors.Join(err, n.close())
	}
	defer stopProfile()
	r := &fileRun{node: n, source: source, log: log}
	began := osclock.Mono()
	if err := r.apply(ctx, statements); err != nil {
		n.drain(o.drain) // what had started before the refused statement
		return errors.Join(err, n.close())
	}
	if n.engine.Progress().Finite == 0 {
		fmt.Fprint(os.Stderr, endless(path, len(n.engine.Report().Ingestors)))
	}
	outcome := r.watch(ctx)
	report := n.engine.Report() // before the drain, which stops the sources
	if errors.Is(outcome, failed{}) {
		o.drain = min(o.drain, stuckDrain) // nothing moved for long: the rest has settled, or never will
	}
	n.drain(o.drain)
	report = report.Refresh(n.engine.Report())
	err = n.close()
	if e := writeReport(os.Stdout, o.format, report, osclock.Mono().Sub(began)); e != nil {
		err = errors.Join(err, e)
	}
	return errors.Join(outcome, err)
}

// endless says why a run will not end by itself; running counts the ingestors, whose sources all have no end.
func endless(path string, running int) string {
	text := fmt.Sprintf("nervixd: no finite source runs after the last statement of %s, so this run ends with an interrupt (Ctrl-C)\n", path)
	if running == 0 {
		return text + "  hint: a file that is to read something ends with START;\n"
	}
	return text + "  hint: the sources that run wait for more (FOLLOW); without FOLLOW a file is read to its end and the run ends by itself\n"
}

// startProfile begins a CPU profile; an empty path does nothing.
func startProfile(path string) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		_ = f.Close()
	}, nil
}

// tell shows diagnostics with their source lines.
func tell(source string, diagnostics fault.Diagnostics) {
	for _, d := range diagnostics {
		fmt.Fprint(os.Stderr, d.Render(source))
	}
}

// fileRun applies one file and watches what it started.
type fileRun struct {
	node   *node
	source string
	log    *slog.Logger
}

// apply executes the statements one request each, as `nervix -f` does.
func (r *fileRun) apply(ctx context.Context, statements []parse.Parsed) error {
	var domain ident.Domain
	var transaction ident.Reference
	for _, s := range statements {
		if up, ok := s.Stmt.(*ast.Upload); ok {
			if err := r.upload(ctx, domain, !transaction.IsZero(), up); err != nil {
				tell(r.source, fault.Diagnostics{*err})
				return failed{}
			}
			continue
		}
		out := r.node.control.Execute(ctx, control.Request{
			User: datadir.AdminUser, Domain: domain, Text: r.source[s.Span.Offset:s.Span.End()], Transaction: transaction,
		})
		if out.Disposition != control.Completed {
			tell(r.source, out.Diagnostics.Shift(s.Span.Offset))
			return failed{}
		}
		domain, transaction = out.Domain, out.Transaction
	}
	return nil
}

// watch returns when every finite source is finished with nothing unresolved, when a source is blocked and the rest has settled, when a
// node failed, or when a signal came.
func (r *fileRun) watch(ctx context.Context) error {
	var moved engine.Progress
	movedAt, blockedSince := osclock.Mono(), osclock.Mono()
	for {
		p := r.node.engine.Progress()
		now := osclock.Mono()
		if p.Moved != moved.Moved {
			movedAt = now
		}
		if p.Blocked == 0 || p.Moved != moved.Moved {
			blockedSince = now // retries of the blocked line neither move anything nor end the wait
		}
		moved = p
		switch {
		case p.Finite > 0 && p.Finished == p.Finite && !p.Busy:
			return nil
		case p.Finite > 0 && p.Blocked > 0 && p.Finished+p.Blocked == p.Finite && !p.Busy && now.Sub(blockedSince) >= blockedAfter:
			return r.blocked()
		case p.Failing != "" && now.Sub(movedAt) >= stuckAfter:
			fmt.Fprintln(os.Stderr, "nervixd: a node failed and nothing moves any more:", p.Failing)
			return failed{}
		}
		if p.Finite > 0 && p.Ended+p.Blocked == p.Finite {
			r.node.engine.Flush() // no more rows come, so none waits for the end of a FLUSH EACH
		}
		if osclock.Wait(ctx, watchEvery) != nil {
			return nil // a signal: drain and report
		}
	}
}

func (r *fileRun) blocked() error {
	for _, i := range r.node.engine.Report().Ingestors {
		if i.Blocked != "" {
			fmt.Fprintf(os.Stderr, "nervixd: INGESTOR %s is blocked: %s\n", i.Name, i.Blocked)
		}
	}
	return failed{}
}
