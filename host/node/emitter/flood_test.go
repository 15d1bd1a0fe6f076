// SPDX-License-Identifier: Apache-2.0

package emitter_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nervix-go/nervix/host/node/nodetest"
)

// A sink that answers, rejects, forgets and dies at random: every payload is confirmed or rejected in the end, each row settles by its own fate, and
// the payloads of an identity never change.
func TestFloodOfAnswers(t *testing.T) {
	for seed := range uint64(40) {
		r, chance := rand.New(rand.NewPCG(seed, 2)), rand.New(rand.NewPCG(seed, 3))
		bytes := map[uint64]string{}
		verdicts := map[string]string{} // by bed
		sink := &nodetest.Sink{}
		sink.Respond = func(a nodetest.Attempt) nodetest.Answer {
			for i, id := range a.IDs {
				if was, known := bytes[id]; known && was != a.Payloads[i] {
					t.Errorf("seed %d: identity %d was %s and is %s", seed, id, was, a.Payloads[i])
				}
				bytes[id] = a.Payloads[i]
			}
			if chance.IntN(10) == 0 {
				return nodetest.Answer{None: true}
			}
			return judging(func(p string) string {
				v := []string{"", "", "", "?", "rejected"}[chance.IntN(5)]
				if v != "?" {
					if _, again := verdicts[p]; again {
						t.Errorf("seed %d: %s was offered after its answer", seed, p)
					}
					verdicts[p] = v
				}
				return v
			}, nil)(a)
		}
		run(t, text("readings, beds", all+" WHERE wet > 0.0", "FLUSH EACH 5ms MAX BATCH SIZE 300B", "LOG"), sink, func(b *bench) {
			type sent struct {
				fate *nodetest.Fate
				beds []string
			}
			var all []sent
			next := 0
			for range 60 {
				var s sent
				var put []string
				for range 1 + r.IntN(5) {
					next++
					bed := fmt.Sprintf("bed%d", next)
					wet := 1 - 2*(r.IntN(4)/3)
					if wet < 0 {
						bed = ""
					}
					s.beds = append(s.beds, bed)
					put = append(put, fmt.Sprintf("%s|%d|%s", bed, wet, nodetest.Null))
				}
				if r.IntN(2) == 0 {
					s.fate = b.put(put...)
				} else {
					s.fate = b.putBed("x", nil, put...)
				}
				all = append(all, s)
				b.pass(time.Duration(r.IntN(20)) * time.Millisecond)
				if r.IntN(12) == 0 {
					b.sink.Lose("killed")
					b.pass(time.Duration(r.IntN(300)) * time.Millisecond)
					b.sink.Open()
				}
			}
			for range 200 {
				b.pass(time.Second)
				b.sink.Lose("killed") // an attempt that nobody answers
				b.sink.Open()
			}
			for _, s := range all {
				if !s.fate.Settled() {
					b.T.Errorf("a batch did not settle")
				}
				failed := s.fate.Failed()
				for i, bed := range s.beds {
					_, got := failed[i]
					if want := bed != "" && verdicts[line(bed)] == "rejected"; got != want {
						b.T.Errorf("%s failed: %v, want %v", bed, got, want)
					}
				}
			}
			if b.e.Busy() {
				b.T.Error("busy at the end")
			}
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
