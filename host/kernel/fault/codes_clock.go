// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of host/clock and of what reads a domain clock.
const (
	ClockRate          Code = "clock.rate"
	ClockPace          Code = "clock.pace"
	ClockRange         Code = "clock.range"
	ClockReading       Code = "clock.reading"
	ClockTick          Code = "clock.tick"
	ClockUnschedulable Code = "clock.unschedulable"
	ClockUnpaced       Code = "clock.unpaced"
	ClockAuthority     Code = "clock.no_authority"
	ClockProgress      Code = "clock.progress"

	ClockMissing     Code = "clock.missing"
	ClockUninstalled Code = "clock.uninstalled"
	ClockStale       Code = "clock.stale_generation"
	ClockCancelled   Code = "clock.cancelled"
)

// clockCodes is the part of the catalogue that belongs to the domain clock.
func clockCodes() []Entry {
	return []Entry{
		{ClockRate, ClassUser, RetryNever, "A time rate is not a positive finite number.", "state a TIME RATE above zero, or leave it out for 1"},
		{ClockPace, ClassUser, RetryNever, "The period of a paced domain is zero.", "create the domain with a PERIOD of at least 1ns"},
		{ClockRange, ClassUser, RetryNever, "Domain time left the range of signed 64-bit nanoseconds.", "STOP the domain, then START it AT an earlier instant, or with a lower TIME RATE"},
		{ClockReading, ClassInternal, RetryNever, "A reading of domain time lies before the start of its generation.", ""},
		{ClockTick, ClassInternal, RetryNever, "A tick has the number zero; ticks count from 1.", ""},
		{ClockUnschedulable, ClassUser, RetryNever, "An instant of domain time is too far away for any timer.", "wait for an earlier instant, or START the domain with a higher TIME RATE"},
		{ClockUnpaced, ClassUser, RetryNever, "An unpaced domain has no origin, rate or admission window: its time is UTC.", "START it plainly or AT NOW, or create a PACED domain"},
		{ClockAuthority, ClassCapacity, RetryAfterBackoff, "No live voter can produce the ticks of the domain.", "bring a voting node of the cluster back, then repeat the statement"},
		{ClockProgress, ClassInternal, RetryNever, "A report of tick progress does not come from the present authority of the clock.", ""},
		{ClockMissing, ClassUser, RetryNever, "The domain does not exist on this node.", "create it, or look for its name with LIST DOMAINS"},
		{ClockUninstalled, ClassCapacity, RetryAfterBackoff, "The paced domain runs, but no node produces its time at present.", "bring a voting node of the cluster back"},
		{ClockStale, ClassUser, RetryNever, "The work belongs to an earlier start of the domain.", ""},
		{ClockCancelled, ClassUser, RetryNever, "The wait for an instant of domain time was cancelled.", ""},
	}
}
