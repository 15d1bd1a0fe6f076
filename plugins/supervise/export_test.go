// SPDX-License-Identifier: Apache-2.0

package supervise

import "time"

// QuickPings makes a host notice a hanging connector within moments.
func QuickPings(o Options) Options {
	o.pingEvery, o.pingTimeout = 50*time.Millisecond, 2*time.Second
	return o
}
