// SPDX-License-Identifier: Apache-2.0

package supervise

import "time"

// QuickPings makes a host notice a hanging connector within moments.
func QuickPings(o Options) Options {
	o.pingEvery, o.pingTimeout = 50*time.Millisecond, 2*time.Second
	return o
}

// LongGrace makes a host wait for the orderly end of a connector however slow the machine is.
func LongGrace(o Options) Options {
	o.stopGrace = time.Minute
	return o
}
