// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"testing"

	"github.com/nervix-go/nervix/host/model"
)

func TestSavedStateBelongsToCreationAndModule(t *testing.T) {
	// req: W-139 half: the place of the state; a change of binding needs DROP and CREATE so far
	bound := model.Module{Resource: "guests", Version: 1, File: "a.wasm"}
	seen := map[uint64]string{lifetime(7, bound): "first"}
	for name, other := range map[string]uint64{
		"created again": lifetime(8, bound),
		"version":       lifetime(7, model.Module{Resource: "guests", Version: 2, File: "a.wasm"}),
		"file":          lifetime(7, model.Module{Resource: "guests", Version: 1, File: "b.wasm"}),
		"resource":      lifetime(7, model.Module{Resource: "others", Version: 1, File: "a.wasm"}),
	} {
		if was, taken := seen[other]; taken {
			t.Errorf("%s has the state of %s", name, was)
		}
		seen[other] = name
	}
	if lifetime(7, bound)>>lifetimeBits != 7 {
		t.Error("a lifetime does not tell its creation")
	}
}
