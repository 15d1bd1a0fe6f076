// SPDX-License-Identifier: Apache-2.0

package wire

// Protocol versions of client sessions that this program speaks. Version 2 added domain clocks, uploads, and the pace of domains.
const (
	MinSessionProtocol = 1
	SessionProtocol    = 2
)

// NegotiateSession picks the greatest version in common with a peer's range; false means that there is none.
func NegotiateSession(peerMin, peerMax uint32) (uint32, bool) {
	if peerMin > peerMax || peerMin > SessionProtocol || peerMax < MinSessionProtocol {
		return 0, false
	}
	return min(peerMax, SessionProtocol), true
}

// ForProtocol is a body as a peer of an older version may receive it: a receiver refuses members it does not know, so those of later
// versions are left out. A body whose kind is not part of the version gives nil: it must not be sent.
func ForProtocol(body ServerBody, protocol uint32) ServerBody {
	if protocol >= 2 {
		return body
	}
	switch b := body.(type) {
	case DomainList:
		old := make([]DomainEntry, len(b.Domains))
		for i, d := range b.Domains {
			old[i] = DomainEntry{Name: d.Name, Status: d.Status}
		}
		return DomainList{Domains: old}
	case DomainClockAttachOutcome, DomainClockDetachOutcome, DomainClockObserved, DomainClockTicked, DomainClockAttachmentEnded:
		return nil
	}
	return body
}
