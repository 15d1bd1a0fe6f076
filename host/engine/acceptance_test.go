// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/node/nodetest"
)

// A row is written with the domain time at which its emitter took it. A sink that is down for half a minute is offered the same payload again and again.
func TestPayloadsKeepTheTimeOfAcceptance(t *testing.T) {
	// req: C-121 half: an emitter's rows and retries; fields of actual UTC belong to connectors that have none yet
	bubble(t, func(n *node) {
		down := true
		n.sink.Respond = func(a nodetest.Attempt) nodetest.Answer {
			if down {
				return nodetest.Answer{Failure: errors.New("the disk is away")}
			}
			return nodetest.All(a)
		}
		src := n.source("probes", item("a", 1))
		n.define(schemas + `
CREATE SCHEMA timed (bed STRING, at DATETIME);
CREATE WIRE JSON SCHEMA timed_wire MODE STRICT (bed STRING, at STRING);
CREATE CODEC timed_codec FROM WIRE JSON SCHEMA timed_wire TO SCHEMA timed ENCODE at AS RFC3339;
CREATE RELAY ins SCHEMA reading BRANCHED BY by_bed CAPACITY 2;
CREATE INGESTOR probes` + fromFile + `TO ins INHERIT ALL BRANCHED BY by_bed SET bed = message.bed FLUSH IMMEDIATE` + logAll + general + `
CREATE EMITTER sink FROM ins` + strings.Replace(strings.Replace(toFile, "reading_codec", "timed_codec", 1), "INHERIT ALL", "INHERIT bed SET at = now()", 1) + `FLUSH IMMEDIATE` + logAll + general)
		n.must(n.startDomain(false))
		began := time.Now()
		pass(4 * time.Second)
		tries := len(n.emitted())
		if tries < 3 {
			t.Fatalf("%d attempts", tries)
		}
		n.sink.Do(func() { down = false })
		pass(2 * time.Second)
		all := n.emitted()
		if len(all) <= tries || len(src.Acks()) == 0 {
			t.Fatalf("%q, acknowledged %v", all, src.Acks())
		}
		want := `{"bed":"a","at":"` + began.UTC().Format("2006-01-02T15:04:05")
		for i, payload := range all {
			if payload != all[0] || !strings.HasPrefix(payload, want) {
				t.Fatalf("attempt %d is %s, the first was %s, taken after %s", i, payload, all[0], want)
			}
		}
	})
}
