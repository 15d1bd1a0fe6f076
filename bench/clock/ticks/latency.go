// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nervix-go/nervix/client"
	"github.com/nervix-go/nervix/host/osclock"
)

// follow measures the ticks of one domain a period.
func (n *node) follow(length time.Duration, periods ...time.Duration) error {
	fmt.Printf("%-8s %6s %10s  %-36s %s\n", "period", "ticks", "coalesced", "boundary to emission p50 p99 max", "emission to client p50 p99 max")
	for i, period := range periods {
		if err := n.followOne(fmt.Sprintf("followed_%d", i), period, length); err != nil {
			return err
		}
	}
	return nil
}

func (n *node) followOne(domain string, period, length time.Duration) error {
	if err := n.do("", fmt.Sprintf("CREATE PACED DOMAIN %s WITH PERIOD %dns SKEW 0ns", domain, period)); err != nil {
		return err
	}
	// At rate one from the present, a boundary is due at the same UTC as it names.
	if err := n.do(domain, "START AT NOW"); err != nil {
		return err
	}
	ctx, cancel := osclock.WithTimeout(context.Background(), length)
	defer cancel()
	if _, err := n.client.AttachDomainClock(ctx, domain); err != nil {
		return err
	}
	var emission, receipt []time.Duration
	var last, coalesced uint64
	for {
		e, err := n.client.NextClockEvent(ctx)
		now := osclock.UTC()
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			break
		}
		if err != nil {
			return err
		}
		if e.Kind != client.ClockTicked || e.Domain != domain {
			continue
		}
		if last != 0 { // the first tick waited for the attachment
			coalesced += e.Tick.ID - last - 1
			emission = append(emission, time.Duration(e.Tick.AuthorityUTC.NS()-e.Tick.Boundary.NS()))
			receipt = append(receipt, time.Duration(now.NS()-e.Tick.AuthorityUTC.NS()))
		}
		last = e.Tick.ID
	}
	if len(receipt) == 0 {
		return fmt.Errorf("no tick of %s came", domain)
	}
	fmt.Printf("%-8s %6d %10d  %-36s %s\n", period, len(receipt), coalesced, figures(emission), figures(receipt))
	bound, end := bounded()
	defer end()
	if err := n.client.DetachDomainClock(bound, domain); err != nil {
		return err
	}
	return n.do(domain, "STOP")
}

func figures(all []time.Duration) string {
	slices.Sort(all)
	at := func(share float64) time.Duration {
		return all[int(share*float64(len(all)-1))].Round(time.Microsecond)
	}
	return fmt.Sprintf("%s %s %s", at(0.5), at(0.99), at(1))
}
