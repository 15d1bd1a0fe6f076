// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"strings"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/host/datadir"
	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/nspl/ast"
)

// connect opens the one session of a run.
func connect(ctx context.Context, t terminal, o options) (*client.Client, error) {
	path, c, err := readContext(t, o)
	if err != nil {
		return nil, badContext(err)
	}
	session, err := client.Dial(ctx, client.Config{
		Server: c.Server, CAPEM: []byte(c.CAPEM), User: c.Username, Password: c.Password, Program: "nervix",
	})
	switch {
	case err == nil:
		return session, nil
	case errors.Is(err, client.ErrAddress):
		return nil, exit(exitUsage, "context file %s: %v", path, err)
	case errors.Is(err, client.ErrAuthentication):
		return nil, exit(exitAuthentication, "%v\n  the node at %s does not take user %s with the password in %s\n  hint: write the present password into that file, or name another file with --context",
			err, c.Server, c.Username, path)
	case errors.Is(err, client.ErrTLS):
		return nil, exit(exitConnect, "%v\n  context file: %s\n  hint: the certificate authority in the context file is not that of the node; use the context.json in the data folder of this node", err, path)
	}
	return nil, exit(exitConnect, "%v\n  server %s, context file %s\n  hint: %s", err, c.Server, path, fault.Lookup(fault.CLIUnreachable).Hint)
}

// readContext finds and reads the context file.
func readContext(t terminal, o options) (path string, c datadir.Context, err error) {
	if path, err = datadir.FindContext(o.context, t.getenv); err == nil {
		c, err = datadir.ReadContext(path)
	}
	return path, c, err
}

// staleContext tells what to do when the text changed the password with which the context file logs in: this session goes on, but the next
// command would be refused.
func (p printer) staleContext(o options, altered []*ast.AlterUser) {
	if len(altered) == 0 {
		return
	}
	path, c, err := readContext(p.terminal, o)
	if err != nil {
		return // it was there a moment ago, and the next command tells
	}
	stale := false
	for _, s := range altered {
		if strings.EqualFold(string(s.Name.Name), c.Username) {
			stale = s.Password.Reveal() != c.Password
		}
	}
	if stale {
		p.notef("the context file %s still holds the old password of user %s, so the next command with it is refused\n  hint: write the new password into that file; nervixd keeps it there over restarts", path, c.Username)
	}
}

// badContext tells what to do about a context file that is missing or cannot be used.
func badContext(err error) error {
	return exit(exitUsage, "%v\n  hint: %s", err, fault.Lookup(fault.CodeOf(err)).Hint)
}
