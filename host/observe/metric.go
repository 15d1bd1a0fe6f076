// SPDX-License-Identifier: Apache-2.0

// Package observe turns what the node knows about itself into Prometheus metrics and slog lines. Metrics are read when they are
// scraped, from the counters that the data plane keeps anyway, so the record path pays nothing for them. Labels never hold a branch
// key.
package observe

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Metric is one metric of the table below.
type Metric int

// The metrics.
const (
	MessagesTotal Metric = iota
	BatchesTotal
	RelayBufferLen
	BranchInstances
	BranchEvictionsTotal
	RejectedTotal
	ConnectorRestartsTotal
	GuestRestartsTotal
	GuestErrorsTotal
	GuestInstances
	GuestMemoryBytes
	metricCount
)

var objectLabels = []string{"domain", "kind", "name", "node"}

type definition struct {
	name, help string
	counter    bool
	labels     []string
}

var definitions = [metricCount]definition{
	MessagesTotal:          {"nervix_messages_total", "Messages that entered or left a runtime node.", true, append(objectLabels[:4:4], "direction")},
	BatchesTotal:           {"nervix_batches_total", "Record batches that entered or left a runtime node.", true, append(objectLabels[:4:4], "direction")},
	RelayBufferLen:         {"nervix_relay_buffer_len", "Batches in a relay's buffer that some consumer has not started.", false, objectLabels},
	BranchInstances:        {"nervix_branch_instances", "Live concrete branches.", false, objectLabels},
	BranchEvictionsTotal:   {"nervix_branch_evictions_total", "Concrete branches that ended, by reason (ttl, lru).", true, append(objectLabels[:4:4], "reason")},
	RejectedTotal:          {"nervix_rejected_total", "Messages that a node rejected, by reason.", true, append(objectLabels[:4:4], "reason")},
	ConnectorRestartsTotal: {"nervix_connector_restarts_total", "Restarts of a connector process.", true, []string{"kind", "node"}},
	GuestRestartsTotal:     {"nervix_guest_restarts_total", "Guest instances that were discarded after a failure.", true, objectLabels},
	GuestErrorsTotal:       {"nervix_guest_errors_total", "Runtime errors of a WASM processor.", true, objectLabels},
	GuestInstances:         {"nervix_guest_instances", "Live guest instances of a node.", false, []string{"node"}},
	GuestMemoryBytes:       {"nervix_guest_memory_bytes", "Linear memory of all guest instances of a node.", false, []string{"node"}},
}

// Reading is one value of one series. Labels are in the order of the metric's definition.
type Reading struct {
	Metric Metric
	Value  float64
	Labels []string
}

// Collector gives Prometheus the readings of a source at each scrape.
type Collector struct {
	read  func() []Reading
	descs [metricCount]*prometheus.Desc
}

// NewCollector makes a collector over read, which may be called from any goroutine.
func NewCollector(read func() []Reading) *Collector {
	c := &Collector{read: read}
	for i, d := range definitions {
		c.descs[i] = prometheus.NewDesc(d.name, d.help, d.labels, nil)
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	for _, r := range c.read() {
		kind := prometheus.GaugeValue
		if definitions[r.Metric].counter {
			kind = prometheus.CounterValue
		}
		ch <- prometheus.MustNewConstMetric(c.descs[r.Metric], kind, r.Value, r.Labels...)
	}
}
