// SPDX-License-Identifier: Apache-2.0

// Package follow lets writers append to files and rotate them while real nodes follow these, and looks for every line in what comes out.
package follow
