// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of host/timekeeper, besides those of a clock's states and arithmetic.
const (
	ClockUnavailable Code = "clock.unavailable"
	ClockCadence     Code = "clock.cadence"
)

// timekeeperCodes is the part of the catalogue that belongs to host/timekeeper.
func timekeeperCodes() []Entry {
	return []Entry{
		{ClockUnavailable, ClassUser, RetryNever, "A wait for an instant of domain time ended because its clock cannot be read any more.", "start the domain, and begin the work again in its new generation"},
		{ClockCadence, ClassUser, RetryNever, "A recurring schedule has no further instant in the range of domain time, or its interval is not positive.", "use a positive interval, or START the domain AT an earlier instant"},
	}
}
