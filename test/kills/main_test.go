// SPDX-License-Identifier: Apache-2.0

package kills

import (
	"os"
	"testing"

	"github.com/nervix-go/nervix/test/nodes"
)

func TestMain(m *testing.M) { nodes.Main(m) }

// soak says that the long form of the tests is wanted.
func soak() bool { return os.Getenv("NERVIX_SOAK") == "1" }
