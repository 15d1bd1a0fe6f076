// SPDX-License-Identifier: Apache-2.0

package kills

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/nervix-go/nervix/test/nodes"
)

// TestConnectorDiesBelowALivingHost kills the connector a few times; the host counts its restarts, says why, and rejects nothing.
func TestConnectorDiesBelowALivingHost(t *testing.T) {
	// req: P-007 half: crashes only
	// req: P-010
	t.Parallel()
	const kills, lines = 3, 60_000
	o := folders(t, lines)
	n := nodes.Start(t, o)
	s := n.Dial()
	s.Do(pipeline(o.Root))
	for k := range kills {
		at := int64((k + 1) * lines / (kills + 2))
		nodes.Eventually(t, "the position passes the place of the kill", func() bool { return s.Ingestor("feed").Position.Line >= at })
		status, err := s.Status(t.Context())
		if err != nil || len(status.Connectors) != 1 || status.Connectors[0].State != "running" {
			t.Fatalf("status before kill %d: %+v %v", k, status, err)
		}
		pid := int(status.Connectors[0].PID)
		if live := nodes.ConnectorsOf(n.PID()); !slices.Equal(live, []int{pid}) {
			t.Fatalf("status names connector %d, the host has %v", pid, live)
		}
		_ = syscall.Kill(pid, syscall.SIGKILL)
		nodes.Eventually(t, "another connector is ready", func() bool {
			status, err := s.Status(t.Context())
			return err == nil && status.Connectors[0].State == "running" && status.Connectors[0].Restarts == uint64(k+1)
		})
	}
	if i := s.Finish("feed"); i.Rejected != 0 {
		t.Errorf("after the end: rejected %d", i.Rejected)
	}
	nodes.Eventually(t, "the source is open and finished, without an error", func() bool { // the last kill may have come after the end
		i := s.Ingestor("feed")
		return i.Status == "finished" && i.Transient == ""
	})
	metrics := n.Get("/metrics")
	if want := fmt.Sprintf(`nervix_connector_restarts_total{kind="file",node="n1"} %d`, kills); !strings.Contains(metrics, want) {
		t.Errorf("the metrics have no %s:\n%s", want, grep(metrics, "restarts"))
	}
	for _, line := range strings.Split(grep(metrics, "nervix_rejected_total{"), "\n") {
		if line != "" && !strings.HasSuffix(line, " 0") {
			t.Errorf("something was rejected: %s", line)
		}
	}
	if log := n.Log(); !strings.Contains(log, "killed") {
		t.Errorf("the log does not say how the connector ended:\n%s", log)
	}
	n.Stop()
	out := read(t, nodes.ReadFile(t, o.Root+"/out.ndjson"))
	repeated := out.complete(t, lines)
	if repeated > 2*kills*window {
		t.Errorf("%d lines were repeated", repeated)
	}
	t.Logf("%d lines, %d repeated by %d kills", lines, repeated, kills)
}

// grep gives the lines that hold a word.
func grep(text, word string) string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, word) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}
