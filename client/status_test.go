// SPDX-License-Identifier: Apache-2.0

package client

import (
	"testing"

	"github.com/nervix-go/nervix/host/wire"
)

// A report has the reason of a connector's state behind it.
func TestStatusTellsReasonFromState(t *testing.T) {
	s := statusOf(wire.StatusReport{Connectors: []wire.ConnectorStatus{
		{Kind: "file", PID: 3, State: "running", Restarts: 1}, {Kind: "kafka", State: "failed: exit status 2: no such file"},
	}})
	want := []Connector{{Kind: "file", PID: 3, State: "running", Restarts: 1}, {Kind: "kafka", State: "failed", Reason: "exit status 2: no such file"}}
	for i, c := range s.Connectors {
		if c != want[i] {
			t.Errorf("got %+v, want %+v", c, want[i])
		}
	}
}
