// SPDX-License-Identifier: Apache-2.0

package osclock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestPhysicalDeadline(t *testing.T) {
	// req: C-208
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		d := After(90 * time.Second)
		if d.Left() != 90*time.Second {
			t.Fatal(d.Left())
		}
		if err := WaitUntil(t.Context(), d); err != nil || time.Since(began) != 90*time.Second || d.Left() != 0 {
			t.Fatalf("%v after %v, %v left", err, time.Since(began), d.Left())
		}
		if err := WaitUntil(t.Context(), d); err != nil || time.Since(began) != 90*time.Second {
			t.Fatal("a deadline that has come is waited for")
		}
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		if err := WaitUntil(ctx, After(time.Hour)); !errors.Is(err, why) {
			t.Fatal(err)
		}
	})
}
