#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests the guest kits of Go, Rust and AssemblyScript, builds their guests anew, and holds what differs from the committed modules to the
# conformance kit:  wasm/guest/check.sh [LANG...]
#
# A language whose toolchain is not installed is left out, and the script says so: the committed modules are tested by `go test ./wasm/verify`
# everywhere. NERVIXD names the daemon; without it one is built. What each language needs is said in the head of its build.sh.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# present says what is missing, and fails if something is.
present() {
  case "$1" in
  go) command -v go >/dev/null || { echo "go is not installed"; return 1; } ;;
  rust) "$here/rust/build.sh" --present ;;
  assemblyscript)
    command -v node >/dev/null || { echo "node is not installed"; return 1; }
    [[ -x "$here/assemblyscript/node_modules/.bin/asc" ]] || { echo "the compiler is not installed: run npm install in wasm/guest/assemblyscript"; return 1; }
    ;;
  esac
}

unit() {
  case "$1" in
  go) (cd "$here/go" && GOWORK=off go vet ./... && GOWORK=off go test ./...) ;;
  rust) if command -v cargo >/dev/null; then (cd "$here/rust" && CARGO_TARGET_DIR="$work/target" cargo test --quiet --offline); fi ;;
  assemblyscript) (cd "$here/assemblyscript" && node tests/run.mjs) ;;
  esac
}

# conforms runs the kit over the modules of a language that are not, byte for byte, committed ones.
conforms() {
  local module name dir base schemas args
  for module in "$work/$1"/*.wasm "$work/$1"/tests/*.wasm; do
    name="${module#"$work/$1/"}"
    if cmp -s "$module" "$here/testdata/$name"; then
      echo "$name has the bytes of the committed module"
      continue
    fi
    dir="$(dirname "$name")"
    base="$(basename "$name" .wasm)"
    schemas="$here/$1/$dir/${base#*_}.nspl"
    args=("$module")
    [[ ! -f "$schemas" ]] || args+=(--schemas "$schemas")
    if ! "$NERVIXD" guest verify "${args[@]}" >"$work/report"; then
      cat "$work/report"
      echo "$name, built anew, does not conform" >&2
      return 1
    fi
  done
}

if [[ -z "${NERVIXD:-}" ]]; then
  NERVIXD="$work/nervixd"
  (cd "$here/../.." && go build -o "$NERVIXD" ./cmd/nervixd)
fi
langs=("$@")
((${#langs[@]})) || langs=(go rust assemblyscript)
for lang in "${langs[@]}"; do
  if ! why="$(present "$lang")"; then
    echo "$lang: left out, $why"
    continue
  fi
  began=$SECONDS
  unit "$lang" | { grep -v "no test files" || true; }
  "$here/build.sh" "$lang" "$work/$lang"
  conforms "$lang"
  echo "$lang: $((SECONDS - began)) s"
done
