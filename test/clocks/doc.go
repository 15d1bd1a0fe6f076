// SPDX-License-Identifier: Apache-2.0

// Package clocks tests domain time from outside: real nodes, the nervix command that follows clocks, and pipelines of paced domains. What a
// follower prints is compared, line by line, with a model that knows nothing but the mapping the first line tells: big rationals instead of the
// server's arithmetic.
//
// Nothing here depends on how fast the machine is. Where domain time must stand still it runs at a rate so small that it never reaches the next
// nanosecond; where it must have passed, the test waits for a tick that says so, and asks only for what stays true afterwards.
package clocks
