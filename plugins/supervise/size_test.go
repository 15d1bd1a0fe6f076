// SPDX-License-Identifier: Apache-2.0

package supervise_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/plugins/conformance"
	"github.com/nervix-go/nervix/plugins/supervise"
)

func TestPayloadBeyondTheFrameIsRejectedAlone(t *testing.T) {
	// req: P-055 half: the size of a payload
	h, _ := hostWith(t, func(o supervise.Options) supervise.Options {
		o.MaxBodyBytes = 64 << 10
		return o
	})
	sink := conformance.OpenSink(t, h, sinkPlan("", filepath.Join(t.TempDir(), "once")))
	defer sink.Close()
	sink.State(connector.Open)
	sink.Offer(strings.Repeat("a", 64<<10))
	if a := sink.Answer(); a.Failure != nil || len(a.Answers) != 1 || a.Answers[0].FirstID != a.Answers[0].LastID || !strings.Contains(a.Answers[0].Rejected, "the limit is 65536") {
		t.Fatalf("%+v", a)
	}
	sink.Write("b")
}
