// SPDX-License-Identifier: Apache-2.0

// Package cli tests the command line client: scripts in testdata run the real nervix against a real nervixd. All scripts but those that stop
// a node share one, each with domains of its own.
//
// Beside the commands of testscript the scripts have:
//
//	exits CODE PROGRAM ARGS...     run a program and expect exactly this exit code
//	lines N                        standard output was N lines of jsonl, each exactly an object of the interface
//	value LINE PATH WANT           a member of a line of standard output, PATH like diagnostics.0.code; WANT is JSON, or a bare string
//	hides TEXT                     neither standard output nor standard error of the last program holds the text
//	node NAME [FLAGS...]           start a node of the script's own, data folder NAME, and use its context
//	stopnode NAME                  stop it and expect exit 0
//	password FILE NEW              write another password into a context file
//	mix FILE FILE NEW              a context with the certificate authority of the second file
package cli
