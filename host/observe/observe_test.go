// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"

	"github.com/nervix-go/nervix/host/kernel/vtime"
)

func at(d time.Duration) vtime.Mono { return vtime.MonoFromNS(int64(d)) }

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Max(1, math.Abs(b)) }

func TestRates(t *testing.T) {
	var r Rate
	if _, _, _, ok := r.Rates(); ok {
		t.Fatal("a rate without a sample")
	}
	r.Sample(100, 0)
	if _, _, _, ok := r.Rates(); ok {
		t.Fatal("one sample is no rate")
	}
	r.Sample(200, 0) // at the same moment
	if _, _, _, ok := r.Rates(); ok {
		t.Fatal("two samples of one moment are no rate")
	}
	for s := 1; s <= 10; s++ {
		r.Sample(100+uint64(s)*50, time.Second)
	}
	if now, m1, m15, ok := r.Rates(); !ok || !near(now, 50) || !near(m1, 50) || !near(m15, 50) {
		t.Fatalf("a steady rate: %v %v %v %v", now, m1, m15, ok)
	}
	// It stops; after a minute the average over one minute has fallen to 1/e, however often it was sampled.
	for s := 11; s <= 70; s++ {
		r.Sample(600, time.Second)
	}
	if now, m1, m15, _ := r.Rates(); now != 0 || !near(m1, 50/math.E) || !near(m15, 50*math.Exp(-1.0/15)) {
		t.Fatalf("a minute later: %v %v %v", now, m1, m15)
	}
	r.Sample(600, time.Minute)
	if _, m1, _, _ := r.Rates(); !near(m1, 50/math.E/math.E) {
		t.Fatalf("two minutes later, in one sample: %v", m1)
	}
}

// A window remembers what a list of all snapshots knows, as far as its grain and length allow.
func TestWindowAgreesWithAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type kept struct {
			at    time.Duration
			value int
		}
		var w Window[int]
		var list []kept
		var now time.Duration
		for i := range rapid.IntRange(0, 200).Draw(t, "samples") {
			now += time.Duration(rapid.IntRange(1, 40).Draw(t, "seconds")) * time.Second
			w.Sample(i, at(now))
			if len(list) == 0 || now-list[len(list)-1].at >= windowGrain {
				list = append(list, kept{now, i})
			}
		}
		if len(list) > windowSlots {
			list = list[len(list)-windowSlots:]
		}
		for _, span := range []time.Duration{0, time.Minute, windowSpan, time.Hour} {
			got, ok := w.Since(span, at(now))
			if ok != (len(list) > 0) {
				t.Fatalf("ok %v with %d snapshots", ok, len(list))
			}
			if !ok {
				continue
			}
			want := list[0].value
			for _, k := range slices.Backward(list) {
				if now-k.at >= span {
					want = k.value
					break
				}
			}
			if got != want {
				t.Fatalf("since %v: snapshot %d, want %d", span, got, want)
			}
		}
	})
}

// The names, kinds and labels that others read are these.
func TestMetricsAreDeclared(t *testing.T) {
	// req: R-069 half: the labels there are; that their values hold no key is shown in the engine
	want := map[string]string{
		"nervix_messages_total": "direction,domain,kind,name,node", "nervix_batches_total": "direction,domain,kind,name,node",
		"nervix_relay_buffer_len": "domain,kind,name,node", "nervix_branch_instances": "domain,kind,name,node",
		"nervix_branch_evictions_total": "domain,kind,name,node,reason", "nervix_rejected_total": "domain,kind,name,node,reason",
		"nervix_connector_restarts_total": "kind,node",
		"nervix_guest_restarts_total":     "domain,kind,name,node", "nervix_guest_errors_total": "domain,kind,name,node",
		"nervix_guest_instances": "node", "nervix_guest_memory_bytes": "node",
	}
	var readings []Reading
	for m := range metricCount {
		labels := slices.Clone(definitions[m].labels)
		readings = append(readings, Reading{m, 1, labels})
	}
	reg := prometheus.NewPedanticRegistry()
	reg.MustRegister(NewCollector(func() []Reading { return readings }))
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		var names []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			if l.GetName() != l.GetValue() {
				t.Errorf("%s: label %s got the value of %s", f.GetName(), l.GetName(), l.GetValue())
			}
			names = append(names, l.GetName())
		}
		if got := strings.Join(names, ","); got != want[f.GetName()] {
			t.Errorf("%s has labels %s, want %s", f.GetName(), got, want[f.GetName()])
		}
		if counter := strings.HasSuffix(f.GetName(), "_total"); counter != (f.GetType().String() == "COUNTER") || f.GetHelp() == "" {
			t.Errorf("%s is a %s: %s", f.GetName(), f.GetType(), f.GetHelp())
		}
		delete(want, f.GetName())
	}
	if len(want) > 0 {
		t.Errorf("missing %v", want)
	}
}

func TestLoggers(t *testing.T) {
	var b bytes.Buffer
	for _, format := range LogFormats {
		b.Reset()
		log, err := NewLogger(&b, format)
		if err != nil {
			t.Fatal(err)
		}
		log.Debug("hidden")
		log.Info("shown", "domain", "farm")
		if format == "json" {
			var line map[string]any
			if err := json.Unmarshal(b.Bytes(), &line); err != nil || line["domain"] != "farm" || line["msg"] != "shown" {
				t.Errorf("%s: %v", b.String(), err)
			}
		} else if !strings.Contains(b.String(), "msg=shown domain=farm") || strings.Contains(b.String(), "hidden") {
			t.Errorf("%s: %s", format, b.String())
		}
	}
	if _, err := NewLogger(&b, "xml"); err == nil || !strings.Contains(err.Error(), "text or json") {
		t.Errorf("%v", err)
	}
}
