// SPDX-License-Identifier: Apache-2.0

// Package badinput gives real nodes what they must refuse: damaged lines, files that are not there, disks that are full, statements and frames
// that make no sense, damaged folders. Each test checks that the error says what, where and why, and that the good lines got through.
package badinput
