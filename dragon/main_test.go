// SPDX-License-Identifier: Apache-2.0

package dragon_test

import (
	"fmt"
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
	code := m.Run()
	err := goleak.Find()
	for range 60 { // what a store or a log ends after its Close takes its time on a slow machine
		if code != 0 || err == nil {
			break
		}
		err = goleak.Find()
	}
	if code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
