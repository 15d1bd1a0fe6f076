// SPDX-License-Identifier: Apache-2.0

package emitter_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/nervix-go/nervix/host/kernel/ident"
	"github.com/nervix-go/nervix/host/node/connector"
	"github.com/nervix-go/nervix/host/node/emitter"
	"github.com/nervix-go/nervix/host/node/nodetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const base = `
CREATE SCHEMA reading (bed STRING, wet F64, n I64 OPTIONAL);
CREATE SCHEMA bed_key (bed STRING);
CREATE SCHEMA flaw (ref STRING, code STRING, op STRING, why STRING, bed STRING OPTIONAL, key STRING OPTIONAL);
CREATE WIRE JSON SCHEMA reading_wire MODE STRICT (bed STRING, wet NUMBER, n INTEGER OPTIONAL);
CREATE CODEC reading_codec FROM WIRE JSON SCHEMA reading_wire TO SCHEMA reading;
CREATE BRANCH by_bed SCHEMA bed_key TTL 1h;
CREATE RELAY readings SCHEMA reading UNBRANCHED CAPACITY 4;
CREATE RELAY beds SCHEMA reading BRANCHED BY by_bed CAPACITY 4;
CREATE RELAY flaws SCHEMA flaw UNBRANCHED CAPACITY 4;
CREATE RELAY bed_flaws SCHEMA flaw BRANCHED BY by_bed CAPACITY 4;
CREATE CLIENT files TYPE FILE CONFIG { 'root' = '/data' };
`

// text makes an emitter from its inputs, what stands between ENCODE and FLUSH, the flush and the policy.
func text(from, construct, flush, policy string) string {
	return base + "CREATE EMITTER sink FROM " + from + ` TO FILE files PATH 'out.ndjson' MODE ACK RETRY POLICY BACKOFF 100ms MAX 300ms
	  ENCODE USING reading_codec ` + construct + " " + flush + " ON MESSAGE ERROR " + policy + " ON GENERAL ERROR LOG;"
}

const (
	all       = "INHERIT ALL"
	immediate = "FLUSH IMMEDIATE"
	each      = "FLUSH EACH 1s MAX BATCH SIZE 1MiB"
	sendFlaws = "SEND TO flaws SET ref = error.reference, code = error.code, op = error.operation, why = error.message, bed = input.bed"
)

var errEnd = errors.New("the test is over")

// bench is one running emitter.
type bench struct {
	*nodetest.World
	sink *nodetest.Sink
	e    *emitter.Emitter
}

// run builds and starts an emitter and calls use in a bubble.
func run(t *testing.T, text string, sink *nodetest.Sink, use func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := nodetest.New(t, text, 2)
		plan := w.Graph.Emitters[0]
		b := &bench{World: w, sink: sink}
		b.e = emitter.New(emitter.Config{
			Plan: plan, Error: w.Target(plan.Policy.Relay), Sinks: sink, Clock: w.Clock, Lanes: w.Exec, Benches: w.Benches, Alloc: w.Heap, Log: w.Log,
		})
		for i, in := range plan.Inputs {
			input := b.e.Node().Input(i)
			input.Connect(w.Relays[in.Relay.Ref.Name].Attach(input, plan.Attached))
		}
		stop := w.Upkeep(b.e.Touch)
		defer func() {
			b.close()
			stop()
			w.Close()
		}()
		if err := b.e.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		use(b)
	})
}

func (b *bench) close() {
	b.e.Node().Close(errEnd)
	b.e.Node().Abandon(errEnd)
	if err := b.e.Close(context.Background(), errEnd); err != nil {
		b.T.Error(err)
	}
}

func (b *bench) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// put publishes rows into the unbranched relay.
func (b *bench) put(rows ...string) *nodetest.Fate {
	b.T.Helper()
	return b.Publish("readings", nil, nil, rows...)
}

func (b *bench) putBed(bed string, marks []int64, rows ...string) *nodetest.Fate {
	b.T.Helper()
	return b.Publish(ident.Name("beds"), []string{bed}, marks, rows...)
}

// attempts compares the payloads of every publish call; values are those of the field n or bed.
func (b *bench) attempts(want ...string) {
	b.T.Helper()
	var got []string
	for _, a := range b.sink.Attempts() {
		got = append(got, strings.Join(a.Payloads, " "))
	}
	if !slices.Equal(got, want) {
		b.T.Fatalf("attempts\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func line(bed string) string { return `{"bed":"` + bed + `","wet":1}` }

func lines(beds ...string) string {
	var out []string
	for _, bed := range beds {
		out = append(out, line(bed))
	}
	return strings.Join(out, " ")
}

func rows(beds ...string) []string {
	var out []string
	for _, bed := range beds {
		out = append(out, bed+"|1|"+nodetest.Null)
	}
	return out
}

// wantFate compares what became of a batch: whether it settled, and which rows failed.
func wantFate(t testing.TB, f *nodetest.Fate, settled bool, failed ...int) {
	t.Helper()
	got := []int{}
	for row := range f.Failed() {
		got = append(got, row)
	}
	slices.Sort(got)
	if f.Settled() != settled || !slices.Equal(got, append([]int{}, failed...)) {
		t.Fatalf("settled %v, failed %v (%v); want %v, %v", f.Settled(), got, f.Failed(), settled, failed)
	}
}

// judging answers single payloads: “ confirms, a reason rejects, and `?` says nothing.
func judging(verdict func(payload string) string, failure error) func(nodetest.Attempt) nodetest.Answer {
	return func(a nodetest.Attempt) nodetest.Answer {
		out := nodetest.Answer{Failure: failure}
		for i, id := range a.IDs {
			if v := verdict(a.Payloads[i]); v != "?" {
				out.Answers = append(out.Answers, connector.SinkAnswer{FirstID: id, LastID: id, Rejected: v})
			}
		}
		return out
	}
}
