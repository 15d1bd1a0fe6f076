#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the C guests into a folder. Needs clang and wasm-ld: Debian packages clang and lld, version 14 or newer. The committed modules
# were built with Debian clang 14.0.6; another version gives other bytes and the same behaviour.
#
# The linker is called directly: the compiler's driver would run whatever wasm-opt it finds.
set -euo pipefail
dir="${1:?usage: build.sh DIR}"
clang="${CLANG:-clang}"
ld="${WASM_LD:-wasm-ld}"
flags=(--target=wasm32 -std=c11 -O2 -mbulk-memory -msign-ext -mnontrapping-fptoint -ffreestanding -nostdlib
  -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Wshadow -Werror)
object="$(mktemp)"
trap 'rm -f "$object"' EXIT
for source in *.c; do
  "$clang" "${flags[@]}" -c "$source" -o "$object"
  "$ld" --no-entry --stack-first -z stack-size=32768 --strip-all "$object" -o "$dir/c_${source%.c}.wasm"
  chmod 644 "$dir/c_${source%.c}.wasm"
done
