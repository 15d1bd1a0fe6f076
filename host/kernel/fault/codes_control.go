// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of host/control, host/registry, dragon.
const (
	DomainRunning Code = "domain.running"
	DomainStopped Code = "domain.stopped"
	DomainUnknown Code = "domain.unknown"
)

// controlCodes is the part of the catalogue that belongs to host/control, host/registry, dragon.
func controlCodes() []Entry {
	return []Entry{
		{DomainRunning, ClassUser, RetryNever, "The domain runs, and this change needs it stopped.", "STOP the domain first"},
		{DomainStopped, ClassUser, RetryNever, "The domain is stopped already.", ""},
		{DomainUnknown, ClassUser, RetryNever, "There is no domain of this name.", "CREATE DOMAIN"},
	}
}
