// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of host/relay, host/ack, host/branch, host/lanes.
const (
	RelayFull       Code = "relay.full"
	RelayNoConsumer Code = "relay.no_consumer"
)

// relayCodes is the part of the catalogue that belongs to host/relay, host/ack, host/branch, host/lanes.
func relayCodes() []Entry {
	return []Entry{
		{RelayFull, ClassCapacity, RetryAfterBackoff, "The relay has no free place.", ""},
		{RelayNoConsumer, ClassUser, RetryAfterBackoff, "The relay has no attached consumer.", "add a node that reads it"},
	}
}
