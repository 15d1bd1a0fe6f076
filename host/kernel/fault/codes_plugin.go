// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of plugins, connectors.
const (
	PluginExited Code = "plugin.exited"
)

// pluginCodes is the part of the catalogue that belongs to plugins, connectors.
func pluginCodes() []Entry {
	return []Entry{
		{PluginExited, ClassExternal, RetryAfterBackoff, "A connector process ended.", "see the log lines of the connector"},
	}
}
