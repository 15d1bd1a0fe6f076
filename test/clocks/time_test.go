// SPDX-License-Identifier: Apache-2.0

package clocks

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/test/nodes"
)

// instants: what expressions see of domain time.
func instants(t *testing.T, w *world) {
	// req: C-114 half: SET and WHERE
	// req: C-116
	// req: C-129
	withID := strings.Replace(toGood, "'x'", "uuid_v7()", 1)
	old := w.stage(t, "sixties", stageOptions{pace: "WITH PERIOD 1h SKEW 0s", timestamp: "TIMESTAMP NOW", rows: []string{row(1, ""), row(2, "")},
		routes: toGood + "ON MESSAGE ERROR LOG " + withID + sendBad})
	young := w.stage(t, "tens", stageOptions{pace: "WITH PERIOD 1h SKEW 0s", timestamp: "TIMESTAMP NOW", rows: []string{row(1, ""), row(2, "")},
		routes: strings.Replace(withID, "UNBRANCHED", "WHERE seen = now() UNBRANCHED", 1) + sendBad})
	old.Do("START AT '1960-07-01T12:00:00.123456789Z'" + still)
	young.Do("START AT '2012-07-01T12:00:00.123Z'" + still)
	if got := old.settled(2); got.Rejected != 2 || got.Timestamp != "NOW" {
		t.Errorf("%+v", got)
	}
	for _, g := range old.good() {
		if g.Seen != "1960-07-01T12:00:00.123456789+00:00" || g.ID != "x" {
			t.Errorf("%+v", g)
		}
	}
	if all := old.good(); len(all) != 2 {
		t.Errorf("%+v", all)
	}
	if bad := old.bad(); len(bad) != 2 || bad[0].Code != "evaluation" || bad[0].Operation != "set" || !strings.HasPrefix(bad[1].At, "1960-07-01T12:00:00.123456789") {
		t.Errorf("%+v", bad)
	}
	young.settled(2)
	if all := young.good(); len(all) != 2 || all[0].ID == all[1].ID || len(young.bad()) != 0 {
		t.Errorf("%+v %+v", all, young.bad())
	}
	for _, g := range young.good() {
		stamp := strings.ReplaceAll(g.ID, "-", "")
		ms, err := strconv.ParseInt(stamp[:12], 16, 64)
		if err != nil || ms != time.Date(2012, 7, 1, 12, 0, 0, 123e6, time.UTC).UnixMilli() || stamp[12] != '7' {
			t.Errorf("%+v: %d %v", g, ms, err)
		}
	}

	// Unpaced: every timestamp is admitted, and the time is UTC. Both readings are of one host.
	free := w.stage(t, "free", stageOptions{timestamp: "TIMESTAMP AT at", rows: []string{row(1, "1677-09-21T00:12:43.145224192Z"), row(2, "2262-04-11T23:47:16.854775807Z"), row(3, "")}, routes: toGood + sendBad})
	free.Do("START")
	if got := free.settled(3); got.RejectedBy["timestamp"] != 1 || got.Rejected != 1 { // req: C-133
		t.Errorf("%+v", got)
	}
	for _, g := range free.good() {
		at, err := time.Parse(time.RFC3339Nano, g.Seen)
		if err != nil || at.Year() < 2024 { // req: C-010 half: now() is no instant of a mapping
			t.Errorf("%+v %v", g, err)
		}
	}
	if len(free.numbers()) != 2 {
		t.Errorf("%+v", free.good())
	}
	for _, s := range []*stage{old, young, free} {
		s.Do("STOP")
	}
}

// held is a domain whose rows rest in the reference guest (wasm/guest/reference.md), in a branch each, until the second is over that it asked for;
// flush is how they go on, further are routes beside the one to the guest.
func (w *world) held(t *testing.T, domain, ackTimeout, flush, ttl, further string, rows int) *stage {
	t.Helper()
	s := &stage{session: w.session(t, domain), at: w.root + "/" + domain}
	module, err := os.ReadFile("../../wasm/guest/testdata/c_reference.wasm")
	if err != nil {
		t.Fatal(err)
	}
	nodes.WriteFile(t, s.at+"/modules/reference.wasm", module)
	var in strings.Builder
	for n := range rows {
		fmt.Fprintf(&in, "{\"sensor\":\"s%d\",\"value\":%d,\"at\":\"2012-01-01T00:00:00Z\"}\n", n, n)
	}
	nodes.WriteFile(t, s.at+"/in.ndjson", []byte(in.String()))
	s.Do(`CREATE PACED DOMAIN ` + domain + ` WITH PERIOD 1h SKEW 1h;
USE ` + domain + `;
CREATE SCHEMA item (sensor STRING, value I64 OPTIONAL, at DATETIME);
CREATE SCHEMA kept (sensor STRING, value I64 OPTIONAL, at DATETIME, ordinal I64);
CREATE SCHEMA audit (ordinal I64, label STRING, branch STRING OPTIONAL, released DATETIME, note STRING OPTIONAL);
CREATE SCHEMA by (sensor STRING);
CREATE WIRE JSON SCHEMA item_wire MODE STRICT (sensor STRING, value INTEGER OPTIONAL, at STRING);
CREATE WIRE JSON SCHEMA kept_wire MODE STRICT (sensor STRING, value INTEGER OPTIONAL, at STRING, ordinal INTEGER);
CREATE WIRE JSON SCHEMA audit_wire MODE STRICT (ordinal INTEGER, label STRING, branch STRING OPTIONAL, released STRING, note STRING OPTIONAL);
CREATE CODEC item_codec FROM WIRE JSON SCHEMA item_wire TO SCHEMA item ENCODE at AS RFC3339;
CREATE CODEC kept_codec FROM WIRE JSON SCHEMA kept_wire TO SCHEMA kept ENCODE at AS RFC3339;
CREATE CODEC audit_codec FROM WIRE JSON SCHEMA audit_wire TO SCHEMA audit ENCODE released AS RFC3339;
CREATE BRANCH by_sensor SCHEMA by TTL ` + ttl + `;
CREATE RELAY items SCHEMA item BRANCHED BY by_sensor CAPACITY 8;
CREATE RELAY kept SCHEMA kept BRANCHED BY by_sensor CAPACITY 8;
CREATE RELAY audit SCHEMA audit BRANCHED BY by_sensor CAPACITY 8;
CREATE RELAY later SCHEMA item UNBRANCHED CAPACITY 8;
CREATE CLIENT files TYPE FILE CONFIG { 'root' = '` + s.at + `' };
CREATE RESOURCE modules;
CREATE INGESTOR feed FROM FILE files PATH 'in.ndjson'
  MODE ACK PARALLEL MAX 1000 ACK TIMEOUT ` + ackTimeout + ` RETRY POLICY BACKOFF 20ms MAX 100ms ON QUIESCE SUSPEND
  DECODE USING item_codec TIMESTAMP NOW
  TO items INHERIT ALL BRANCHED BY by_sensor SET sensor = message.sensor ` + flush + ` ON MESSAGE ERROR LOG
  ` + further + ` ON GENERAL ERROR LOG;`)
	if _, err := s.Upload(t.Context(), client.UploadOptions{Domain: domain, Resource: "modules", Directory: s.at + "/modules"}); err != nil {
		t.Fatal(err)
	}
	s.Do(`CREATE WASM PROCESSOR hold FROM items USING RESOURCE modules VERSION 1 FILE 'reference.wasm' MAX FUEL 20000000 MAX MEMORY 8MiB BRANCHED BY by_sensor
  TO kept ON MESSAGE ERROR LOG TO audit ON MESSAGE ERROR LOG ON GLOBAL ERROR LOG`)
	for _, out := range []struct{ relay, codec, flush string }{{"kept", "kept", flush}, {"audit", "audit", flush}, {"later", "item", "FLUSH IMMEDIATE"}} {
		s.Do(fmt.Sprintf(`CREATE EMITTER %[1]s_file FROM %[1]s TO FILE files PATH '%[1]s.ndjson' MODE ACK RETRY POLICY BACKOFF 20ms MAX 100ms
  ENCODE USING %[2]s_codec INHERIT ALL %[3]s ON MESSAGE ERROR LOG ON GENERAL ERROR LOG`, out.relay, out.codec, out.flush))
	}
	return s
}

type guest struct {
	LiveBranches int `json:"live_branches"`
	Rows         struct{ Given, Acked, Nacked int }
}

func (s *stage) guest() (g guest) {
	s.t.Helper()
	s.describe("WASM PROCESSOR hold", &g)
	return g
}

// fastTime: at a million to one, an hour of FLUSH EACH and two days of a branch's life pass at once.
func fastTime(t *testing.T, w *world) {
	// req: C-018
	// req: C-135 half: timeouts of guests and FLUSH EACH
	// req: C-143 half: FLUSH EACH
	const rows = 5
	s := w.held(t, "fast", "60s", "FLUSH EACH 1h MAX BATCH SIZE 64KiB", "2d", "", rows)
	s.Do("START AT '2012-01-01T00:00:00Z' TIME RATE 1e6")
	if got := s.settled(rows); got.Rejected != 0 {
		t.Errorf("%+v", got)
	}
	if kept, audit := lines[struct{ Sensor string }](t, s.at+"/kept.ndjson"), lines[struct{ Released time.Time }](t, s.at+"/audit.ndjson"); len(kept) != rows || len(audit) != rows {
		t.Errorf("%+v %+v", kept, audit)
	} else {
		// The rows waited for a flush of an hour, then for a second of the guest.
		for _, a := range audit {
			if a.Released.Before(time.Date(2012, 1, 1, 1, 0, 1, 0, time.UTC)) {
				t.Errorf("%+v", a)
			}
		}
	}
	nodes.Eventually(t, "idle branches are released", func() bool { return s.guest().LiveBranches == 0 })
	s.Do("STOP")
}

// slowTime: where time stands still a guest's timeout, a flush and a branch's life of a nanosecond are never over. The backoff of a retry passes all the
// same; fifteen of them are longer than the second that the guest asked for.
func slowTime(t *testing.T, w *world) {
	// req: C-018
	// req: C-134 half: backoff, of a source of files
	// req: C-135 half: a deadline that is not due does not fire
	s := w.held(t, "slow", "60s", "FLUSH IMMEDIATE", "1ns", "TO later INHERIT ALL UNBRANCHED FLUSH EACH 1ns MAX BATCH SIZE 64KiB ON MESSAGE ERROR LOG", 1)
	nodes.WriteFile(t, s.at+"/early.ndjson", []byte(`{"sensor":"x","at":"2050-01-01T00:00:00Z"}`+"\n"))
	s.Do(`CREATE INGESTOR early FROM FILE files PATH 'early.ndjson'
  MODE ACK PARALLEL MAX 1 ACK TIMEOUT 60s RETRY POLICY BACKOFF 100ms MAX 100ms ON QUIESCE SUSPEND
  DECODE USING item_codec TIMESTAMP AT at TO later INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG ON GENERAL ERROR LOG`)
	s.Do("START AT '2012-01-01T00:00:00Z'" + still)
	nodes.Eventually(t, "the guest has the row", func() bool { return s.guest().Rows.Given == 1 })
	nodes.Eventually(t, "a row was tried again and again", func() bool {
		var d description
		s.describe("INGESTOR early", &d)
		return d.Status == "blocked" && d.Blocked.Attempt >= 15
	})
	if got := s.source(); got.Unresolved != 1 {
		t.Errorf("%+v", got)
	}
	if got := s.guest(); got.Rows.Given != 1 || got.LiveBranches != 1 {
		t.Errorf("%+v", got)
	}
	for _, relay := range []string{"kept", "audit", "later"} {
		if text := nodes.ReadFile(t, s.at+"/"+relay+".ndjson"); len(text) != 0 {
			t.Errorf("%s: what is never due came: %s", relay, text)
		}
	}
	s.Do("STOP")
}

// outOfRange: a clock that runs out of instants is an error that says so, never UTC.
func outOfRange(t *testing.T, w *world) {
	// req: C-017
	// req: C-075 half: no wall time instead
	// req: C-147 half: DESCRIBE and log of a source, log of the authority
	s := w.stage(t, "range", stageOptions{pace: "WITH PERIOD 1h SKEW 1h", timestamp: "TIMESTAMP NOW", rows: []string{row(1, "")}, routes: toGood + sendBad})
	s.Do("START AT '2262-04-11T23:47:16.854775807Z'")
	var got description
	nodes.Eventually(t, "the clock cannot be read", func() bool {
		got = s.source()
		return got.Transient != ""
	})
	for _, part := range []string{"passes 2262-04-11T23:47:16.854775807Z, its last instant", "clock.range", "TIME RATE 1"} {
		if !strings.Contains(got.Transient, part) {
			t.Errorf("%+v lacks %q", got, part)
		}
	}
	if got.Unresolved != 1 || got.Rejected != 0 {
		t.Errorf("%+v", got)
	}
	for _, said := range []string{"the domain clock cannot be read; deliveries wait", "the next tick of a domain clock cannot be produced"} {
		nodes.Eventually(t, "the log says once that "+said, func() bool {
			n := 0
			for line := range strings.Lines(w.node.Log()) {
				if strings.Contains(line, said) && strings.Contains(line, "domain=range") && strings.Contains(line, "clock.range") {
					n++
				}
			}
			return n == 1
		})
	}
	f := w.jsonl(t, "range", "--for", "1ms")
	f.ends()
	for _, e := range f.holds() {
		if e.kind == "tick" {
			t.Errorf("%+v", e)
		}
	}
	s.Do("STOP;\nSTART AT '2012-01-01T00:00:00Z' TIME RATE 1e-300;\n")
	s.settled(1)
	if all := s.good(); len(all) != 1 || all[0].Seen != "2012-01-01T00:00:00+00:00" {
		t.Errorf("%+v", all)
	}
	s.Do("STOP")
}
