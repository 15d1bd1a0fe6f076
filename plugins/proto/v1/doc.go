// SPDX-License-Identifier: Apache-2.0

// Package pluginv1 is the generated code of the control protocol between host and connector process, version 1. A later version is a
// package beside this one.
package pluginv1
