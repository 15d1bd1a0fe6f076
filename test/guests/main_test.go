// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"os"
	"testing"

	"github.com/nervix-go/nervix/test/nodes"
)

func TestMain(m *testing.M) { nodes.Main(m) }

// soak is n in the long run and normal otherwise.
func soak(normal, long int) int {
	if os.Getenv("NERVIX_SOAK") != "" {
		return long
	}
	return normal
}
