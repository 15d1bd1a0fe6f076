// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// The reason of a version that failed is kept until too many others came, and one of an earlier process is not made up.
func TestWhyAVersionFailed(t *testing.T) {
	var f failedUploads
	first := failedVersion{"d", "models", 1}
	if why := f.why(first); !strings.Contains(why, "not known any more") {
		t.Error(why)
	}
	f.note(first, "the disk is full")
	if why := f.why(first); why != "the disk is full" {
		t.Error(why)
	}
	for n := range uint64(maxFailedUploads) {
		f.note(failedVersion{"d", "models", 2 + n}, "later")
		f.note(failedVersion{"d", "models", 2 + n}, "last")
	}
	if why := f.why(first); !strings.Contains(why, "not known any more") || f.why(failedVersion{"d", "models", 2}) != "last" || len(f.mu.why) != maxFailedUploads {
		t.Errorf("%s, %d kept", why, len(f.mu.why))
	}
}

// An upload carries what went wrong to the step that fails its version, also on a context that outlives the client.
func TestAttemptCarriesItsError(t *testing.T) {
	ctx := withAttempt(t.Context())
	late := context.WithoutCancel(ctx)
	if why := attemptOf(late).why(); !strings.Contains(why, "gone before") {
		t.Error(why)
	}
	attemptOf(ctx).received = true
	if why := attemptOf(late).why(); !strings.Contains(why, "not what the client announced") {
		t.Error(why)
	}
	if err := attemptOf(ctx).saw(errors.New("no room")); err == nil || attemptOf(late).why() != "no room" {
		t.Error(err, attemptOf(late).why())
	}
	if attemptOf(t.Context()).why() == "" || attemptOf(ctx).saw(nil) != nil || attemptOf(late).why() != "no room" {
		t.Error("a step without an error hides that of another")
	}
}
