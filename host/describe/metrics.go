// SPDX-License-Identifier: Apache-2.0

package describe

// EdgeObservation is the traffic of one edge of a node on one physical node. Rates are nil when they are not measured.
type EdgeObservation struct {
	// Relay is the relay at the other end of the edge.
	Relay string
	Node  string
	Total uint64
	Rates EdgeRates
}

// EdgeRates are messages per second of wall time and of domain time: now, and averaged over one and fifteen minutes.
type EdgeRates struct {
	Wall, Domain        *float64
	Wall1m, Wall15m     *float64
	Domain1m, Domain15m *float64
}

// Percentiles describes the fill of a buffer over one and fifteen minutes, in batches; nil where it is not measured.
type Percentiles struct {
	P50Of1m, P90Of1m, P99Of1m    *float64
	P50Of15m, P90Of15m, P99Of15m *float64
}

func edges(direction string, list []EdgeObservation) rows {
	made := make(rows, 0, len(list))
	for _, e := range list {
		made = append(made, record{
			{"metric", "messages_total"}, {"direction", direction}, {"relay", e.Relay}, {"physical_node", e.Node}, {"total", e.Total},
			{"wall_rate_per_sec", figure(e.Rates.Wall)}, {"domain_rate_per_sec", figure(e.Rates.Domain)},
			{"wall_rate_ema_1m_per_sec", figure(e.Rates.Wall1m)}, {"wall_rate_ema_15m_per_sec", figure(e.Rates.Wall15m)},
			{"domain_rate_ema_1m_per_sec", figure(e.Rates.Domain1m)}, {"domain_rate_ema_15m_per_sec", figure(e.Rates.Domain15m)},
		})
	}
	return made
}

func (p Percentiles) pairs(prefix string) record {
	return record{
		{prefix + "p50_1m", figure(p.P50Of1m)}, {prefix + "p90_1m", figure(p.P90Of1m)}, {prefix + "p99_1m", figure(p.P99Of1m)},
		{prefix + "p50_15m", figure(p.P50Of15m)}, {prefix + "p90_15m", figure(p.P90Of15m)}, {prefix + "p99_15m", figure(p.P99Of15m)},
	}
}

func figure(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}
