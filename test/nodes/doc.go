// SPDX-License-Identifier: Apache-2.0

// Package nodes starts real nervixd processes for end-to-end tests: built once a test binary, killed and restarted on one data folder, asked
// over real sessions. Every process it starts has ended when the test that started it has.
package nodes
