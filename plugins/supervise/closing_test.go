// SPDX-License-Identifier: Apache-2.0

package supervise_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/plugins/conformance"
)

func TestSinkWhoseProcessDiesWhileItClosesIsClosed(t *testing.T) {
	// req: P-007
	// An attempt is under way, so Close waits for its answer; with the process that answer has gone.
	h, _ := newHost(t)
	sink := conformance.OpenSink(t, h, sinkPlan("hang_publish", filepath.Join(t.TempDir(), "once")))
	sink.State(connector.Open)
	sink.Offer("a")
	closed := make(chan error)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() { closed <- sink.Session.Close(ctx) }()
	if err := unix.Kill(statusOf(h, "faulty").PID, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-closed; err != nil {
		t.Errorf("waited for a dead process: %v", err)
	}
}

func TestSinkThatAnswersAfterCloseGaveUpIsLetGo(t *testing.T) {
	// req: P-008
	// The connector has to hear of the end also when nobody waits for it any more: it would keep the destination locked for its successor.
	h, _ := newHost(t)
	mark := filepath.Join(t.TempDir(), "closed")
	const goOn = ".go" // the publish call lasts until this exists behind mark
	sink := conformance.OpenSink(t, h, sinkPlan("slow", mark))
	sink.State(connector.Open)
	sink.Offer("a")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := sink.Session.Close(ctx); err == nil {
		t.Fatal("the publish call has not ended")
	}
	if err := os.WriteFile(mark+goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2400 {
		if _, err := os.Stat(mark); err == nil {
			return
		}
		time.Sleep(25 * time.Millisecond)
	}
	t.Error("the connector keeps the sink")
}
