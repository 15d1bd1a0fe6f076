#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the Go guests into a folder, and those that only tests use into tests/ below it: build.sh DIR [NAME]. Needs the standard Go toolchain,
# 1.24 or newer, and nothing else. The committed modules were built with go1.26.8; another version gives other bytes and the same behaviour.
#
# A module of the standard toolchain has two megabytes, most of them the runtime, so only the reference guest is committed. README.md has the
# recipe for TinyGo, whose modules are small.
set -euo pipefail
dir="${1:?usage: build.sh DIR [NAME]}"
names=(reference first tests/mirror)
[[ -z "${2:-}" ]] || names=("$2")
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$dir/tests"
export GOFLAGS=-mod=mod GOWORK=off CGO_ENABLED=0
go build -o "$work/stubwasi" ./cmd/stubwasi
for name in "${names[@]}"; do
  GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -trimpath -buildvcs=false -ldflags='-s -w' -o "$work/raw.wasm" "./$name"
  "$work/stubwasi" -o "$dir/${name%"$(basename "$name")"}go_$(basename "$name").wasm" "$work/raw.wasm"
done
