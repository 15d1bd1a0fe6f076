// SPDX-License-Identifier: Apache-2.0

package dragon_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// children are the programs that tests run as separate processes of this binary, by the value of childVar.
var children = map[string]func(){"define": defineForever, "fill": fillTheDisk, "format": readAnotherFormat}

const childVar = "NERVIX_TEST_CHILD"

func TestMain(m *testing.M) {
	if child := children[os.Getenv(childVar)]; child != nil {
		child()
		return
	}
	goleak.VerifyTestMain(m)
}
