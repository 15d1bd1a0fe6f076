#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the AssemblyScript guests into a folder, and those that only tests use into tests/ below it: build.sh DIR [NAME]. Needs node 20 or newer
# and the compiler that package.json names: npm install. The committed modules were built with assemblyscript 0.28.20; another version
# gives other bytes and the same behaviour. README.md says what the options are for.
set -euo pipefail
dir="${1:?usage: build.sh DIR [NAME]}"
asc="${ASC:-node_modules/.bin/asc}"
[[ -n "$(command -v "$asc")" ]] || { echo "build.sh: the compiler is not installed: run npm install in $PWD" >&2; exit 3; }
names=(first reference tests/mirror)
[[ -z "${2:-}" ]] || names=("$2")
mkdir -p "$dir/tests"

build() {
  local base
  base="$(basename "$1")"
  "$asc" "$1.ts" -O3 --runtime minimal --use abort=assembly/host/abortGuest --use guestHeap=~lib/rt/tcms/total \
    -o "$dir/${1%"$base"}assemblyscript_$base.wasm"
}

running=()
for name in "${names[@]}"; do
  build "$name" &
  running+=($!)
done
for job in "${running[@]}"; do wait "$job"; done
