// SPDX-License-Identifier: Apache-2.0

package guests

import (
	"context"
	"os"
	"path/filepath"

	"github.com/nervix-go/nervix/host/node/wasmproc"
	"github.com/nervix-go/nervix/wasm/engine"
	"github.com/nervix-go/nervix/wasm/instances"
)

// Modules are the built guests of a folder, run by an engine.
func Modules(e *engine.Engine, dir string) wasmproc.Modules {
	return instances.New(e, func(_ context.Context, pin wasmproc.Pin) ([]byte, error) {
		return os.ReadFile(filepath.Join(dir, filepath.Base(pin.File)))
	})
}
