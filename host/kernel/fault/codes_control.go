// SPDX-License-Identifier: Apache-2.0

package fault

import "slices"

// Codes of host/control, host/registry, dragon.
const (
	ControlBootstrap      Code = "control.bootstrap"
	ControlClosed         Code = "control.closed"
	ControlConflict       Code = "control.conflict"
	ControlCorrupt        Code = "control.corrupt"
	ControlExpired        Code = "control.expired"
	ControlFormat         Code = "control.format"
	ControlIncarnation    Code = "control.incarnation"
	ControlPlanning       Code = "control.planning"
	ControlReference      Code = "control.reference"
	ControlReferencesFull Code = "control.references_full"
	ControlStateFull      Code = "control.state_full"
	ControlStorage        Code = "control.storage"
	ControlUnavailable    Code = "control.unavailable"
	ControlUncertain      Code = "control.uncertain"

	RequestAlone       Code = "request.alone"
	RequestClient      Code = "request.client"
	RequestEmpty       Code = "request.empty"
	RequestSession     Code = "request.session"
	RequestSeveral     Code = "request.several"
	RequestUnsupported Code = "request.unsupported"

	DomainBusy       Code = "domain.busy"
	DomainExists     Code = "domain.exists"
	DomainRunning    Code = "domain.running"
	DomainStopped    Code = "domain.stopped"
	DomainUnknown    Code = "domain.unknown"
	DomainUnselected Code = "domain.unselected"
	DomainFailed     Code = "domain.start_failed"
	DomainSuperseded Code = "domain.superseded"

	ObjectExists     Code = "object.exists"
	ObjectReferenced Code = "object.referenced"
	ObjectUnknown    Code = "object.unknown"

	ResourceConflict       Code = "resource.version_conflict"
	ResourceIncomplete     Code = "resource.version_incomplete"
	ResourceNoVersion      Code = "resource.no_version"
	ResourceUnknown        Code = "resource.unknown"
	ResourceVersions       Code = "resource.version_limit"
	ResourceVersionUnknown Code = "resource.version_unknown"

	UserExists  Code = "user.exists"
	UserLast    Code = "user.last"
	UserSelf    Code = "user.self"
	UserUnknown Code = "user.unknown"

	TransactionActive     Code = "transaction.active"
	TransactionContent    Code = "transaction.content"
	TransactionFailed     Code = "transaction.failed"
	TransactionIdle       Code = "transaction.idle"
	TransactionIncomplete Code = "transaction.incomplete"
	TransactionNone       Code = "transaction.none"
	TransactionOpenLimit  Code = "transaction.open_limit"
	TransactionOwner      Code = "transaction.owner"
	TransactionPosition   Code = "transaction.position"
	TransactionSource     Code = "transaction.source_limit"
	TransactionState      Code = "transaction.state"
	TransactionStatements Code = "transaction.statement_limit"
	TransactionUnknown    Code = "transaction.unknown"
)

// controlCodes is the part of the catalogue that belongs to host/control, host/registry, dragon.
func controlCodes() []Entry {
	return slices.Concat(controlPlaneCodes(), objectCodes(), resourceCodes(), transactionCodes())
}

func controlPlaneCodes() []Entry {
	return []Entry{
		{ControlBootstrap, ClassInternal, RetryAfterBackoff, "The cluster state is not set up, or it belongs to another cluster.", ""},
		{ControlClosed, ClassExternal, RetryElsewhere, "The node is stopping and takes no more commands.", "repeat it with the same execution reference"},
		{ControlConflict, ClassUser, RetryNever, "The execution reference belongs to another command.", "use a new reference for a new command"},
		{ControlCorrupt, ClassInternal, RetryNever, "A stored command or snapshot is damaged.", "restore the data folder from a backup"},
		{ControlExpired, ClassUser, RetryNever, "The outcome of this execution reference is no longer kept.", "look at the current state, then use a new reference"},
		{ControlFormat, ClassUser, RetryNever, "The control plane was stored by another version in another format.", "open the data folder with the version that wrote it, or begin with an empty one"},
		{ControlIncarnation, ClassInternal, RetryNever, "A node announced a start that is older than one already seen.", "start the node from its newest data folder"},
		{ControlPlanning, ClassCapacity, RetryAfterBackoff, "The domain kept changing while the statement was planned.", "repeat the statement"},
		{ControlReference, ClassUser, RetryNever, "The execution reference is malformed or lies in the future.", "use a UUIDv7 of the current time"},
		{ControlReferencesFull, ClassCapacity, RetryAfterBackoff, "No room is left for outcomes of further commands.", "repeat it later"},
		{ControlStateFull, ClassCapacity, RetryAfterBackoff, "The control plane holds as much text as it may.", "drop what is no longer needed, or finish open transactions"},
		{ControlStorage, ClassExternal, RetryNever, "The control plane cannot store its log.", "check the disk, then restart the node"},
		{ControlUnavailable, ClassExternal, RetryAfterBackoff, "The control plane has no leader; nothing was done.", "repeat it shortly"},
		{ControlUncertain, ClassExternal, RetrySame, "It is not known whether the command took effect.", "repeat it with the same execution reference"},
		{RequestAlone, ClassUser, RetryNever, "The statement must be the only one of its request.", "send it in a request of its own"},
		{RequestClient, ClassUser, RetryNever, "The client executes this statement; it reached the server as text.", "use a client that does: `nervix --domain D upload RESOURCE DIR`, or UPLOAD RESOURCE in its shell"},
		{RequestEmpty, ClassUser, RetryNever, "The request holds no statement.", ""},
		{RequestSession, ClassUser, RetryNever, "The session executes this statement as a request of its own.", "send it as the client library does, outside transactions and alone"},
		{RequestSeveral, ClassUser, RetryNever, "Several statements outside a transaction.", "send one statement a request, or begin with BEGIN and end with COMMIT"},
		{RequestUnsupported, ClassUser, RetryNever, "The statement cannot be executed here.", ""},
	}
}

func objectCodes() []Entry {
	return []Entry{
		{DomainBusy, ClassCapacity, RetryAfterBackoff, "Another change of the domain is under way.", "repeat it when the other change has ended"},
		{DomainExists, ClassUser, RetryNever, "A domain of this name exists.", "use CREATE IF NOT EXISTS, or another name"},
		{DomainRunning, ClassUser, RetryNever, "The domain runs, and this change needs it stopped.", "STOP the domain first"},
		{DomainStopped, ClassUser, RetryNever, "The domain is stopped already.", ""},
		{DomainUnknown, ClassUser, RetryNever, "There is no domain of this name.", "CREATE DOMAIN"},
		{DomainUnselected, ClassUser, RetryNever, "The statement acts on a domain and none is selected.", "USE a domain first"},
		{DomainFailed, ClassExternal, RetryAfterBackoff, "The domain could not be started; it is stopped again.", "mend what the diagnostics name, then START again"},
		{DomainSuperseded, ClassUser, RetryNever, "The domain was stopped or started again before this start was ready.", ""},
		{ObjectExists, ClassUser, RetryNever, "An object of this kind and name exists.", "use CREATE IF NOT EXISTS, or another name"},
		{ObjectReferenced, ClassUser, RetryNever, "Other objects reference this one.", "drop the objects named in the message first"},
		{ObjectUnknown, ClassUser, RetryNever, "There is no object of this kind and name.", ""},
		{UserExists, ClassUser, RetryNever, "A user of this name exists.", "use ALTER USER to change the password"},
		{UserLast, ClassUser, RetryNever, "The last user cannot be dropped.", "create another user first"},
		{UserSelf, ClassUser, RetryNever, "A user cannot drop itself.", "log in as another user"},
		{UserUnknown, ClassUser, RetryNever, "There is no user of this name.", ""},
	}
}

func resourceCodes() []Entry {
	return []Entry{
		{ResourceConflict, ClassUser, RetryNever, "The upload identity belongs to other bytes, or the version has ended already.", "upload again under a new identity"},
		{ResourceIncomplete, ClassUser, RetryAfterBackoff, "The version of the resource is not completed.", "wait for its upload, or bind a completed version; DESCRIBE RESOURCE lists them"},
		{ResourceNoVersion, ClassUser, RetryNever, "No version of the resource is completed.", "UPLOAD RESOURCE one first"},
		{ResourceUnknown, ClassUser, RetryNever, "There is no resource of this name in the domain.", "CREATE RESOURCE it first"},
		{ResourceVersions, ClassCapacity, RetryNever, "The resource, or all resources together, have as many versions as they may.", "use another resource, or DROP DOMAIN what is no longer needed"},
		{ResourceVersionUnknown, ClassUser, RetryNever, "The resource has no version of this number.", "DESCRIBE RESOURCE lists the versions there are"},
	}
}

func transactionCodes() []Entry {
	return []Entry{
		{TransactionActive, ClassUser, RetryNever, "A transaction is open in this session.", "COMMIT or REVERT it first"},
		{TransactionContent, ClassUser, RetryNever, "The statement cannot be part of a transaction.", "send it outside the transaction"},
		{TransactionFailed, ClassUser, RetryNever, "A statement of the transaction failed; the statements before it stay applied.", "mend the statement named in the message and send the rest again"},
		{TransactionIdle, ClassUser, RetryNever, "The transaction was not idle for long enough to expire.", ""},
		{TransactionIncomplete, ClassUser, RetryNever, "The changes of the transaction do not form a valid graph yet.", "add the missing statements, or REVERT"},
		{TransactionNone, ClassUser, RetryNever, "No transaction is open in this session.", "BEGIN one first"},
		{TransactionOpenLimit, ClassCapacity, RetryAfterBackoff, "Too many transactions are open.", "finish one first"},
		{TransactionOwner, ClassUser, RetryNever, "The transaction belongs to another user.", ""},
		{TransactionPosition, ClassUser, RetrySame, "The transaction does not end where the statement expects it to.", ""},
		{TransactionSource, ClassUser, RetryNever, "The text of the transaction is too long.", "split it"},
		{TransactionState, ClassUser, RetryNever, "The transaction is not in a state that allows this.", ""},
		{TransactionStatements, ClassUser, RetryNever, "The transaction has too many statements.", "split it"},
		{TransactionUnknown, ClassUser, RetryNever, "There is no such transaction.", ""},
	}
}
