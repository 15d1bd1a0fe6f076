// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/nervix-go/nervix/client"
)

// statusReport is the line of `nervix status --format jsonl`.
type statusReport struct {
	Node        string            `json:"node"`
	Incarnation uint64            `json:"incarnation"`
	Revision    uint64            `json:"revision"`
	Role        string            `json:"role"`
	Connectors  []connectorReport `json:"connectors"`
}

type connectorReport struct {
	Kind     string `json:"kind"`
	PID      uint64 `json:"pid"`
	State    string `json:"state"`
	Restarts uint64 `json:"restarts"`
	// Reason is present for a connector that cannot be started or is waiting for its next start.
	Reason string `json:"reason,omitempty"`
}

func statusCommand(t terminal, o *options) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the node and its connectors",
		Args:  none("status takes none"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := connect(cmd.Context(), t, *o)
			if err != nil {
				return err
			}
			defer func() { _ = c.Close() }()
			s, err := c.Status(cmd.Context())
			switch {
			case errors.Is(err, client.ErrRejected), errors.Is(err, client.ErrReplyTooLarge):
				return err
			case err != nil:
				return exit(exitConnect, "%v", err)
			}
			if o.format == formatJSONL {
				return writeLine(t.out, reportOf(s))
			}
			return statusTable(t.out, reportOf(s))
		},
	}
}

func reportOf(s client.Status) statusReport {
	r := statusReport{Node: s.Node, Incarnation: s.Incarnation, Revision: s.Revision, Role: s.Role, Connectors: []connectorReport{}}
	for _, c := range s.Connectors {
		r.Connectors = append(r.Connectors, connectorReport(c))
	}
	return r
}

func statusTable(w io.Writer, r statusReport) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "NODE\tINCARNATION\tREVISION\tROLE\n%s\t%d\t%d\t%s\n", r.Node, r.Incarnation, r.Revision, r.Role)
	if len(r.Connectors) > 0 {
		fmt.Fprint(table, "\nCONNECTOR\tPID\tSTATE\tRESTARTS\n")
	}
	for _, c := range r.Connectors {
		fmt.Fprintf(table, "%s\t%d\t%s\t%d\n", c.Kind, c.PID, c.State, c.Restarts)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, c := range r.Connectors {
		if c.Reason != "" {
			if _, err := fmt.Fprintf(w, "\nconnector %s is %s: %s\n", c.Kind, c.State, c.Reason); err != nil {
				return err
			}
		}
	}
	return nil
}
