// SPDX-License-Identifier: Apache-2.0

package timekeeper

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nervix-go/nervix/host/kernel/fault"
	"github.com/nervix-go/nervix/host/kernel/vtime"
)

func TestUnpacedTimeIsActualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := Unpaced("farm", 7)
		first, err := h.Snapshot()
		if err != nil || first.Domain != "farm" || first.Generation != 7 || first.Now.NS() != time.Now().UnixNano() {
			t.Fatalf("%+v %v", first, err)
		}
		due, _ := first.Now.Add(time.Second)
		for wait := time.Second; wait >= 0; wait -= 500 * time.Millisecond {
			if left, err := h.Until(due); err != nil || left != wait {
				t.Fatalf("%v left, want %v (%v)", left, wait, err)
			}
			time.Sleep(500 * time.Millisecond)
		}
		if left, _ := h.Until(due); left > 0 {
			t.Fatalf("%v left of a moment that is over", left)
		}
		if left, err := h.Until(vtime.LogicalFromNS(math.MaxInt64)); err != nil || left <= 0 {
			t.Fatalf("%v, %v until the end of time", left, err)
		}
		if left, err := h.Until(vtime.LogicalFromNS(math.MinInt64)); err != nil || left > 0 {
			t.Fatalf("%v, %v until the beginning of time", left, err)
		}
		now, ok := h.Now()
		if s, _ := h.Snapshot(); !ok || now != s.Now {
			t.Fatalf("%v %v", now, ok)
		}
	})
}

// An ended handle reads nothing, and wall time does not take its place.
func TestEndedHandle(t *testing.T) {
	h := Unpaced("farm", 7)
	h.End()
	h.End()
	s, err := h.Snapshot()
	if !fault.Has(err, fault.DomainStopped) || !strings.Contains(err.Error(), "farm") || s.Now.NS() != 0 {
		t.Fatalf("%+v %v", s, err)
	}
	if _, err := h.Until(vtime.LogicalFromNS(0)); !fault.Has(err, fault.DomainStopped) {
		t.Fatal(err)
	}
	if now, ok := h.Now(); ok || now.NS() != 0 {
		t.Fatalf("%v %v", now, ok)
	}
	if _, err := Unpaced("farm", 8).Snapshot(); err != nil {
		t.Fatal("the successor ended too")
	}
}
