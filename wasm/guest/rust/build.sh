#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the Rust guests into a folder, and those that only tests use into tests/ below it: build.sh DIR [NAME]. Needs a rustc with the library of
# wasm32-unknown-unknown, and wasm-ld: Debian packages rustc, libstd-rust-dev-wasm32 and lld, or a toolchain with that target. RUSTC names
# another rustc; build.sh --present says whether there is one. The committed modules were built with Debian rustc 1.63.0 and LLD 14.0.6; other
# versions give other bytes and the same behaviour.
#
# The compiler is called directly: a cargo of another release passes options that this rustc does not know.
set -euo pipefail
dir="${1:?usage: build.sh DIR [NAME]}"
target=wasm32-unknown-unknown
has_target() { [[ -n "$(command -v "$1")" ]] && compgen -G "$("$1" --print sysroot)/lib/rustlib/$target/lib/libcore-*.rlib" >/dev/null; }
rustc=""
for one in ${RUSTC:-rustc /usr/bin/rustc}; do
  if has_target "$one"; then
    rustc="$one"
    break
  fi
done
ld="${WASM_LD:-wasm-ld}"
if [[ "$dir" == --present ]]; then
  [[ -n "$rustc" ]] || { echo "no rustc has the library of $target"; exit 1; }
  command -v "$ld" >/dev/null || { echo "$ld is not installed"; exit 1; }
  exit
fi
[[ -n "$rustc" ]] || { echo "build.sh: no rustc with the library of $target" >&2; exit 3; }
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
flags=(--edition 2021 --target "$target" -C opt-level=3 -C panic=abort -C codegen-units=1 -C embed-bitcode=yes)
"$rustc" "${flags[@]}" --crate-type rlib --crate-name nervix_guest --cfg 'feature="std"' src/lib.rs -o "$work/libnervix_guest.rlib"
names=(first reference tests/mirror)
[[ -z "${2:-}" ]] || names=("$2")
mkdir -p "$dir/tests"

build() {
  local base
  base="$(basename "$1")"
  "$rustc" "${flags[@]}" -C lto=fat -C strip=symbols -C linker="$ld" -C linker-flavor=wasm-ld -C link-arg=--stack-first -C link-arg=-zstack-size=65536 \
    --crate-type cdylib --crate-name "$base" --extern nervix_guest="$work/libnervix_guest.rlib" "examples/$1.rs" -o "$work/$base.wasm"
  install -m 644 "$work/$base.wasm" "$dir/${1%"$base"}rust_$base.wasm"
}

running=()
for name in "${names[@]}"; do
  build "$name" &
  running+=($!)
done
for job in "${running[@]}"; do wait "$job"; done
