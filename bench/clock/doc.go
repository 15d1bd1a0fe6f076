// SPDX-License-Identifier: Apache-2.0

// Package clock measures reads of domain clocks beside what they cannot do without: the UTC source and an atomic load.
package clock
