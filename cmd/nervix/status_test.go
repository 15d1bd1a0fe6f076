// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/client"
)

// The reason of a connector that does not run is below the table, and a member only where there is one.
func TestStatusShowsWhyAConnectorDoesNotRun(t *testing.T) {
	r := reportOf(client.Status{Node: "n1", Connectors: []client.Connector{
		{Kind: "file", PID: 3, State: "running"}, {Kind: "kafka", State: "failed", Reason: "exit status 2"},
	}})
	var table, line bytes.Buffer
	if err := statusTable(&table, r); err != nil || !strings.HasSuffix(table.String(), "\n\nconnector kafka is failed: exit status 2\n") || strings.Contains(table.String(), "connector file") {
		t.Errorf("%v\n%s", err, table.String())
	}
	want := `"connectors":[{"kind":"file","pid":3,"state":"running","restarts":0},{"kind":"kafka","pid":0,"state":"failed","restarts":0,"reason":"exit status 2"}]}` + "\n"
	if err := writeLine(&line, r); err != nil || !strings.HasSuffix(line.String(), want) {
		t.Errorf("%v\n%s", err, line.String())
	}
}
