// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of host/model.
const (
	ResolveUnknown Code = "resolve.unknown"
	ResolveKind    Code = "resolve.kind"

	ModelName        Code = "model.name"
	ModelEmpty       Code = "model.empty"
	ModelDuplicate   Code = "model.duplicate"
	ModelBound       Code = "model.bound"
	ModelPlacement   Code = "model.placement"
	ModelRange       Code = "model.range"
	ModelCodec       Code = "model.codec"
	ModelDirection   Code = "model.direction"
	ModelSchema      Code = "model.schema"
	ModelBranch      Code = "model.branch"
	ModelKey         Code = "model.key"
	ModelClient      Code = "model.client"
	ModelOption      Code = "model.option"
	ModelPath        Code = "model.path"
	ModelRetry       Code = "model.retry"
	ModelTimestamp   Code = "model.timestamp"
	ModelCycle       Code = "model.cycle"
	ModelWriter      Code = "model.writer"
	ModelUnsupported Code = "model.unsupported"
)

// modelCodes is the part of the catalogue that belongs to host/model.
func modelCodes() []Entry {
	return []Entry{
		{ResolveUnknown, ClassUser, RetryNever, "A name refers to nothing in this domain.", "create the object first, or in the same transaction"},
		{ResolveKind, ClassUser, RetryNever, "A name refers to an object of another kind.", ""},
		{ModelName, ClassUser, RetryNever, "The name is reserved.", "choose another name"},
		{ModelEmpty, ClassUser, RetryNever, "A list that needs an element has none.", ""},
		{ModelDuplicate, ClassUser, RetryNever, "Something stands twice that may stand once.", ""},
		{ModelBound, ClassUser, RetryNever, "An array axis is out of bounds.", "an axis is 1..2147483647"},
		{ModelPlacement, ClassUser, RetryNever, "A type stands where it may not stand.", ""},
		{ModelRange, ClassUser, RetryNever, "A count is out of range.", ""},
		{ModelCodec, ClassUser, RetryNever, "Wire schema and schema of a codec do not agree.", "make name, type and OPTIONAL agree on both sides"},
		{ModelDirection, ClassUser, RetryNever, "A codec lacks the direction it is used in.", ""},
		{ModelSchema, ClassUser, RetryNever, "The inputs of a node have different schemas.", "all relays of FROM must name one schema"},
		{ModelBranch, ClassUser, RetryNever, "A relay has another branch than the node that uses it.", "use one branch everywhere, or an ingestor to change it"},
		{ModelKey, ClassUser, RetryNever, "A route does not build the key of its branch exactly.", "set every key field with its exact type, and nothing else"},
		{ModelClient, ClassUser, RetryNever, "The client is of another type than the source or sink.", ""},
		{ModelOption, ClassUser, RetryNever, "A CONFIG entry is unknown, missing or malformed.", ""},
		{ModelPath, ClassUser, RetryNever, "A path is not allowed here.", ""},
		{ModelRetry, ClassUser, RetryNever, "The longest backoff is shorter than the first one.", "make MAX at least BACKOFF"},
		{ModelTimestamp, ClassUser, RetryNever, "The timestamp of an ingestor is missing, or no DATETIME of the codec's schema.", ""},
		{ModelCycle, ClassUser, RetryNever, "Relays and nodes form a cycle.", "break the cycle; graphs with cycles are not supported"},
		{ModelWriter, ClassUser, RetryNever, "Two emitters write the same external target.", "give each emitter its own path"},
		{ModelUnsupported, ClassUser, RetryNever, "The definition uses something that this version does not support.", ""},
	}
}
