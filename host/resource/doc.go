// SPDX-License-Identifier: Apache-2.0

// Package resource keeps the files of uploaded resource versions on a node (nspl 13.1, docs/formats/resource.md).
//
// A version is kept as the archive it came as, in a folder named by its identity, the BLAKE3 digest of the archive, beside a manifest
// that has place, length and digest of each file. Paths of an archive are looked up in the manifest and never become paths of the file
// system, so no path of an uploader leads anywhere, a version of a million files costs two inodes, and durable means two synchronized
// files and one rename.
//
// What comes from outside is hostile until the reader of host/kernel/archive took all of it; what comes from the disk is checked against
// the digests of the manifest each time it is read.
package resource
