// SPDX-License-Identifier: Apache-2.0

// Package kills ends hosts and connectors with SIGKILL at random moments under load and checks, line by line, what is left.
package kills
