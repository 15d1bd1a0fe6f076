// SPDX-License-Identifier: Apache-2.0

package clock

import "github.com/nervix-go/nervix/host/kernel/vtime"

// Mapping is the committed projection of one generation of a paced domain (C-012): logical time is LogicalStart plus the floor of the UTC that
// passed since WallStartedAt times Rate (C-013).
type Mapping struct {
	WallStartedAt vtime.UTC
	LogicalStart  vtime.Logical
	// Rate is logical nanoseconds a nanosecond of UTC, positive and finite.
	Rate float64
}
