// SPDX-License-Identifier: Apache-2.0

package follow

import (
	"testing"

	"github.com/nervix-go/nervix/test/nodes"
)

func TestMain(m *testing.M) { nodes.Main(m) }
