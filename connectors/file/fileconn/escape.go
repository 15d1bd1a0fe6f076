// SPDX-License-Identifier: Apache-2.0

package fileconn

import (
	"errors"
	"strings"
	"syscall"
)

// isEscape recognizes os.Root's refusal of a path that leaves it; the package gives it no name of its own.
func isEscape(err error) bool {
	return strings.Contains(err.Error(), "path escapes") || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR)
}
