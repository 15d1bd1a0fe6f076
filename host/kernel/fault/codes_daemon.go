// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of cmd/nervixd, host/datadir, host/engine.
const (
	DaemonLocked  Code = "daemon.locked"
	DaemonForeign Code = "daemon.foreign"
	DaemonNewer   Code = "daemon.newer"
	DaemonDamaged Code = "daemon.damaged"
)

// daemonCodes is the part of the catalogue that belongs to cmd/nervixd, host/datadir, host/engine.
func daemonCodes() []Entry {
	return []Entry{
		{DaemonLocked, ClassUser, RetryNever, "The data folder is in use by another process.", "stop the process named in the message"},
		{DaemonForeign, ClassUser, RetryNever, "The folder holds files that are not a Nervix data folder.", "name an empty or a Nervix folder"},
		{DaemonNewer, ClassUser, RetryNever, "The data folder was written by a newer version.", "start the version that wrote it"},
		{DaemonDamaged, ClassExternal, RetryNever, "The data folder is damaged.", "restore it from a backup"},
	}
}
