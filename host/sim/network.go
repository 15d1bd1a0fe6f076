// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"time"

	"github.com/nervix-go/nervix/host/kernel/ident"
)

// link is an unordered pair of nodes, the lower number first.
type link struct{ a, b ident.Node }

func linkOf(a, b ident.Node) link {
	if a > b {
		a, b = b, a
	}
	return link{a, b}
}

// network carries messages between processes. Each is delayed by itself, so that they arrive in any order.
type network struct {
	cluster *Cluster
	blocked map[link]bool
	// The probabilities that a message is lost, arrives twice, and arrives seconds late. progress is the extra loss of reports.
	drop, duplicate, slow, progress float64
}

// open says whether two nodes can reach each other; a node always reaches itself.
func (w *network) open(a, b ident.Node) bool { return a == b || !w.blocked[linkOf(a, b)] }

// send makes arrive happen at the process that runs on a node when the message gets there, none, once or twice.
func (w *network) send(what string, from, to ident.Node, arrive func(at *process)) {
	s := w.cluster
	copies := 1
	switch {
	case !w.open(from, to), s.chance(w.drop):
		copies = 0
	case s.chance(w.duplicate):
		copies = 2
	}
	for range copies {
		s.after(w.delay(), what, func() {
			if p := s.nodes[to-1].process; p != nil && (w.open(from, to) || s.chance(0.5)) {
				arrive(p)
			}
		})
	}
}

func (w *network) delay() time.Duration {
	if w.cluster.chance(w.slow) {
		return w.cluster.between(30*time.Millisecond, 4*time.Second)
	}
	return w.cluster.between(200*time.Microsecond, 30*time.Millisecond)
}
