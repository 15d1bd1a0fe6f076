// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"

	"github.com/nervix-go/nervix/host/edge/admin"
	"github.com/nervix-go/nervix/host/observe"
)

// readings are the values of all metrics of the node.
func (n *node) readings() []observe.Reading {
	out := n.engine.Readings()
	for _, c := range n.plugins.Status() {
		out = append(out, observe.Reading{
			Metric: observe.ConnectorRestartsTotal, Value: float64(c.Restarts), Labels: []string{c.Kind, n.engine.NodeName()},
		})
	}
	guests, me := n.guests.Usage(), []string{n.engine.NodeName()}
	return append(out,
		observe.Reading{Metric: observe.GuestInstances, Value: float64(guests.Stores), Labels: me},
		observe.Reading{Metric: observe.GuestMemoryBytes, Value: float64(guests.LinearBytes), Labels: me},
	)
}

// checks are what /readyz asks.
func (n *node) checks() []admin.Check {
	return []admin.Check{
		{Name: "raft leader", Ready: func() error {
			if !n.raft.Leader() {
				return errors.New("no leader is known")
			}
			return nil
		}},
		{Name: "committed revision installed", Ready: func() error {
			if n.control.Installed().Revision < n.control.State().Revision {
				return errors.New("a committed revision is not installed yet")
			}
			return nil
		}},
		{Name: "durable store", Ready: n.store.Err},
	}
}
