// SPDX-License-Identifier: Apache-2.0

// Package archive is the form in which the files of a resource version travel and are kept (docs/formats/resource.md): a POSIX tar of
// directories and regular files that has exactly one encoding for one set of files, so that equal files have equal bytes and one identity,
// whoever packed them and when.
//
// Client and node share it. The Writer is what a client sends with; the Reader takes bytes from outside as hostile: it accepts what the
// Writer writes and nothing else, needs memory for one path only, and says of everything else what is wrong with it. Both stream. The
// package touches no file.
package archive
