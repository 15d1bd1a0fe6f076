// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of host/relay, host/ack, host/branch, host/lanes.
const (
	RelayFull       Code = "relay.full"
	RelayNoConsumer Code = "relay.no_consumer"
	RelayClosed     Code = "relay.closed"
	AckTimeout      Code = "ack.timeout"
)

// relayCodes is the part of the catalogue that belongs to host/relay, host/ack, host/branch, host/lanes.
func relayCodes() []Entry {
	return []Entry{
		{RelayFull, ClassCapacity, RetryAfterBackoff, "The relay has no free place.", ""},
		{RelayNoConsumer, ClassUser, RetryAfterBackoff, "The relay has no attached consumer.", "add a node that reads it"},
		{RelayClosed, ClassCapacity, RetryAfterBackoff, "The relay has ended.", ""},
		{AckTimeout, ClassExternal, RetryAfterBackoff, "A delivery gave no sign of life within ACK TIMEOUT.", "raise ACK TIMEOUT, or look for the node that does not answer"},
	}
}
