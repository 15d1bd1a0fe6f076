// SPDX-License-Identifier: Apache-2.0

// Package clocks lets a session follow domain clocks (chapter Domain Clock, "Session attachment").
package clocks
