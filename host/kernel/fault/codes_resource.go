// SPDX-License-Identifier: Apache-2.0

package fault

// Codes of the files of resource versions: host/resource, host/session/uploads, and uploads of the client.
const (
	ResourceArchive     Code = "resource.archive"
	ResourceBusy        Code = "resource.busy"
	ResourceDamaged     Code = "resource.damaged"
	ResourceDiskFull    Code = "resource.disk_full"
	ResourceFileSize    Code = "resource.file_size"
	ResourceFileUnknown Code = "resource.file_unknown"
	ResourceFolder      Code = "resource.folder"
	ResourceInterrupted Code = "resource.interrupted"
	ResourceLimit       Code = "resource.limit"
	ResourceMissing     Code = "resource.missing"
	ResourceStorage     Code = "resource.storage"
	ResourceStream      Code = "resource.stream"
	ResourceTransfer    Code = "resource.transfer"
)

// resourceFileCodes is the part of the catalogue that belongs to the files of resource versions.
func resourceFileCodes() []Entry {
	return []Entry{
		{ResourceArchive, ClassUser, RetryNever, "The bytes of an upload are not the archive of a folder as this version takes it.", "upload with a client of this version"},
		{ResourceBusy, ClassCapacity, RetryAfterBackoff, "The node receives as many uploads as it may, or this upload is under way on another connection.", "repeat the upload later, under the same reference"},
		{ResourceDamaged, ClassExternal, RetryNever, "The stored files of a resource version are damaged.", "upload the same files again: that replaces them; then check the disk"},
		{ResourceDiskFull, ClassCapacity, RetryAfterBackoff, "The disk of the node has no room for an upload.", "free space on the disk of the node's data folder, then upload again"},
		{ResourceFileSize, ClassUser, RetryNever, "A file of a resource version is larger than its use allows.", ""},
		{ResourceFileUnknown, ClassUser, RetryNever, "A resource version has no file of this path.", "paths are relative to the folder that was uploaded, with / between names"},
		{ResourceFolder, ClassUser, RetryNever, "The folder of an upload cannot be read or packed.", "mend what the message names, then upload again"},
		{ResourceInterrupted, ClassExternal, RetrySame, "An upload ended before its end; nothing was stored.", "upload again, under the same reference"},
		{ResourceLimit, ClassUser, RetryNever, "A resource version is larger than the limits allow.", "upload less: 4 GiB of archive, 16 GiB of files and 1,000,000 files are the defaults"},
		{ResourceMissing, ClassExternal, RetryNever, "This node has no files of a resource version.", "upload the same files again; if the data folder was restored, restore its folder resources too"},
		{ResourceStorage, ClassExternal, RetryAfterBackoff, "The files of a resource version cannot be stored or read.", "check permissions and state of the disk that the message names"},
		{ResourceStream, ClassExternal, RetryNever, "The stream of an upload broke the protocol.", "use a client of this version"},
		{ResourceTransfer, ClassExternal, RetrySame, "The bytes that arrived are not those that were sent.", "upload again, under the same reference"},
	}
}
