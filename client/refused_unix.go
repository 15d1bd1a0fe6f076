// SPDX-License-Identifier: Apache-2.0

//go:build unix

package client

import (
	"errors"
	"syscall"
)

func refusedByHost(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
