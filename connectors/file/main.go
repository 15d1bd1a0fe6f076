// SPDX-License-Identifier: Apache-2.0

// Command file is the FILE connector: lines of files in, lines of files out (nspl 14.6).
package main

import (
	"os/signal"
	"syscall"

	"github.com/nervix-go/nervix/connectors/file/fileconn"
	"github.com/nervix-go/nervix/plugins/sdk"
)

func main() {
	// A file size limit shall be an error of the write, not the end of the process.
	signal.Ignore(syscall.SIGXFSZ)
	sdk.Serve(fileconn.Connector())
}
