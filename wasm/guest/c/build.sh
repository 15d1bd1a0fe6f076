#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the C guests into a folder, and those that only tests use into tests/ below it. Needs clang and wasm-ld: Debian packages clang and lld,
# version 14 or newer. The committed modules were built with Debian clang 14.0.6; another version gives other bytes and the same behaviour.
#
# The linker is called directly: the compiler's driver would run whatever wasm-opt it finds.
set -euo pipefail
dir="${1:?usage: build.sh DIR [SOURCE]}"
sources=(*.c tests/*.c)
[[ -z "${2:-}" ]] || sources=("$2")
clang="${CLANG:-clang}"
ld="${WASM_LD:-wasm-ld}"
flags=(--target=wasm32 -std=c11 -O2 -mbulk-memory -msign-ext -mnontrapping-fptoint -ffreestanding -nostdlib
  -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wshadow -Werror)
objects="$(mktemp -d)"
trap 'rm -rf "$objects"' EXIT
mkdir -p "$dir/tests"

build() {
  local name module object
  name="$(basename "$1" .c)"
  module="$dir/${1%"$name.c"}c_$name.wasm"
  object="$objects/$name.o"
  "$clang" "${flags[@]}" -c "$1" -o "$object"
  "$ld" --no-entry --stack-first -z stack-size=32768 --strip-all "$object" -o "$module"
  chmod 644 "$module"
}

running=()
for source in "${sources[@]}"; do
  build "$source" &
  running+=($!)
done
for job in "${running[@]}"; do wait "$job"; done
