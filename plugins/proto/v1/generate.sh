#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the Go code of connector.proto again. Needs protoc (Debian: protobuf-compiler, 3.21); the Go generators come at pinned versions.
set -eu
cd "$(dirname "$0")"
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
GOBIN=$bin go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
GOBIN=$bin go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.5.1
rm -f connector.pb.go connector_grpc.pb.go
protoc --plugin=protoc-gen-go="$bin/protoc-gen-go" --plugin=protoc-gen-go-grpc="$bin/protoc-gen-go-grpc" \
  --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative connector.proto
