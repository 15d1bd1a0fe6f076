#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs programs of this folder, all of them or those named, and shows what came out. Writes below tour-out/ only.
# Usage, after `make build`: examples/tour/run.sh [first] [ingestor] [junction] [emitter]
set -eu
cd "$(dirname "$0")/../.."
[ -x bin/nervixd ] || { echo "bin/nervixd is missing: run make build first" >&2; exit 2; }
[ $# -gt 0 ] || set -- first ingestor junction emitter
for name in "$@"; do
  program=examples/tour/$name.nspl
  [ -f "$program" ] || { echo "there is no $program" >&2; exit 2; }
  root=$PWD/tour-out/$name
  rm -rf "$root"
  mkdir -p "$root"
  cp examples/tour/orders.ndjson "$root/"
  sed "s#@ROOT@#$root#" "$program" >"$root/$name.nspl" # a client needs an absolute root
  echo "== $program"
  bin/nervixd run "$root/$name.nspl" --file-root "$root" 2>"$root/nervixd.log" || {
    cat "$root/nervixd.log" >&2
    exit 1
  }
  for file in "$root"/out/*; do
    echo "-- out/${file##*/}"
    cat "$file"
  done
done
