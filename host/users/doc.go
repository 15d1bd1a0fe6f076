// SPDX-License-Identifier: Apache-2.0

// Package users judges passwords. A password is stored as an argon2id hash in PHC form, made by the proposer of CREATE USER and ALTER
// USER; nothing else of it is kept.
//
// Password work runs on one worker with a bounded queue, so that a storm of logins takes one core and 19 MiB, and data work never delays
// a login for long. A full queue is "cannot be judged now", not a failure. An unknown user costs the same work as a known
// one. After a failed attempt the attempts of that user, and of nobody else, are paced to ten a second until one succeeds.
package users
