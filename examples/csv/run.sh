#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the CSV connector into a folder of connectors of its own and runs csv.nspl with it. Writes below csv-out/ only.
# Usage, after `make build`: examples/csv/run.sh
set -eu
cd "$(dirname "$0")/../.."
[ -x bin/nervixd ] || { echo "bin/nervixd is missing: run make build first" >&2; exit 2; }
root=$PWD/csv-out
rm -rf "$root"
mkdir -p "$root/connectors"
CGO_ENABLED=0 go build -o "$root/connectors/file" ./examples/csv
"$root/connectors/file" --descriptor >"$root/connectors/file.json"
cp examples/csv/orders.csv "$root/"
sed "s#@ROOT@#$root#" examples/csv/csv.nspl >"$root/csv.nspl"
bin/nervixd run "$root/csv.nspl" --connectors "$root/connectors" --file-root "$root"
for file in "$root"/out/*; do
  echo "-- out/${file##*/}"
  cat "$file"
done
