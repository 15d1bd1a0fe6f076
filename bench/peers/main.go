// SPDX-License-Identifier: Apache-2.0

// Command peers runs the streaming engine that bench/ndjson compares with: Benthos, with the components of its io and pure packages. It is a module of its own
// so that its dependencies stay out of the product.
//
//	peers run CONFIG.yaml
package main

import (
	"context"

	"github.com/redpanda-data/benthos/v4/public/service"

	_ "github.com/redpanda-data/benthos/v4/public/components/io"
	_ "github.com/redpanda-data/benthos/v4/public/components/pure"
)

func main() { service.RunCLI(context.Background()) }
