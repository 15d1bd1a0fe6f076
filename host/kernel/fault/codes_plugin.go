// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of plugins and connectors, and of the Arrow messages they and other outsiders send (host/arrowipc).
const (
	ArrowInvalid     Code = "arrow.invalid"
	ArrowUnsupported Code = "arrow.unsupported"

	PluginExited     Code = "plugin.exited"
	PluginUnknown    Code = "plugin.unknown"
	PluginDescriptor Code = "plugin.descriptor"
	PluginProtocol   Code = "plugin.protocol"
	PluginStart      Code = "plugin.start"
	PluginChecksum   Code = "plugin.checksum"
	PluginHung       Code = "plugin.hung"
	PluginViolation  Code = "plugin.violation"
	PluginRefused    Code = "plugin.refused"
	PluginOption     Code = "plugin.option"
	PluginStopped    Code = "plugin.stopped"
)

// pluginCodes is the part of the catalogue that belongs to plugins, connectors and arrowipc.
func pluginCodes() []Entry {
	return []Entry{
		{ArrowInvalid, ClassExternal, RetryNever, "An Arrow IPC message from outside is damaged or contradicts its schema.", "the sender is broken or speaks another version; see its log lines"},
		{ArrowUnsupported, ClassExternal, RetryNever, "An Arrow IPC message uses a feature that Nervix does not accept.", "send plain columns: no dictionary, compression, union, map or view"},
		{PluginExited, ClassExternal, RetryAfterBackoff, "A connector process ended.", "see the log lines of the connector"},
		{PluginUnknown, ClassUser, RetryNever, "No connector of this kind is installed.", "put <kind> and <kind>.json into the connectors directory of the node"},
		{PluginDescriptor, ClassUser, RetryNever, "The descriptor of a connector is damaged or does not fit its binary.", "build the connector again; <binary> --descriptor prints the file"},
		{PluginProtocol, ClassUser, RetryNever, "A connector speaks another plugin protocol than this host.", "install a connector that was built for this version"},
		{PluginStart, ClassExternal, RetryAfterBackoff, "A connector process could not be started.", "see the log lines of the connector"},
		{PluginChecksum, ClassUser, RetryNever, "A connector binary is not the one its descriptor names.", "install binary and descriptor together"},
		{PluginHung, ClassExternal, RetryAfterBackoff, "A connector did not answer in time and was ended.", "see the log lines of the connector"},
		{PluginViolation, ClassExternal, RetryAfterBackoff, "A connector broke the data protocol and was cut off.", "the connector is broken or was built for another version"},
		{PluginRefused, ClassExternal, RetryNever, "A connector refused to open a source or sink.", ""},
		{PluginOption, ClassUser, RetryNever, "A CONFIG value or option does not fit the connector's descriptor.", ""},
		{PluginStopped, ClassCapacity, RetryNever, "The connector host is being stopped.", ""},
	}
}
