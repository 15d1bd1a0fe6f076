#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the weather example with `nervixd run` and shows what came out. Writes below demo-out/ only.
set -eu
cd "$(dirname "$0")/../.."
out=demo-out
mkdir -p "$out/guest"
rm -f "$out"/*.ndjson "$out"/*.jsonl "$out"/*.log
cp wasm/guest/testdata/c_counter.wasm "$out/guest/counter.wasm"
sed "s#@ROOT@#$PWD#" examples/weather/weather.nspl >"$out/weather.nspl"
echo "Running examples/weather/weather.nspl: 2,927 lines of daily weather, five of them damaged."
echo
bin/nervixd run "$out/weather.nspl" --file-root "$PWD" --format jsonl >"$out/summary.jsonl" 2>"$out/nervixd.log" || {
  echo "nervixd run failed:" >&2
  tail -n 20 "$out/nervixd.log" >&2
  exit 1
}
# One line a key: the summary holds flat objects, so sed is enough and the demo needs nothing but a shell.
number() { # file filter key: the sum of a key over the matching lines
  grep "$2" "$1" | sed "s/.*\"$3\":\([0-9.]*\).*/\1/" | awk '{ sum += $1 } END { printf "%s", sum }'
}
read_=$(number "$out/summary.jsonl" '"kind":"ingestor"' read)
rejected=$(number "$out/summary.jsonl" '"kind":"ingestor"' rejected)
seconds=$(number "$out/summary.jsonl" '"kind":"run"' seconds)
emitted=$(number "$out/summary.jsonl" '"kind":"emitter"' emitted)
echo "ingestor daily        read $read_ lines, rejected $rejected:"
grep '"kind":"ingestor"' "$out/summary.jsonl" | sed 's/.*"reasons":{\([^}]*\)}.*/\1/' | tr ',' '\n' | tr -d '"' | sed 's/^/                        /; s/:/ /'
for f in wet range trend damaged; do
  printf 'emitter  %-12s wrote %s records to %s\n' "${f}_file" "$(number "$out/summary.jsonl" "\"name\":\"${f}_file\"" emitted)" "$(ls $out/$f*.ndjson)"
done
awk -v r="$read_" -v e="$emitted" -v s="$seconds" 'BEGIN { printf "rates                 %d lines/s in, %d records/s out (start and drain included)\n", r/s, e/s }'
echo
echo "A few wet days:"
head -n 3 "$out/wet_days.ndjson" | sed 's/^/  /'
echo "Days with a wide range of temperature:"
head -n 3 "$out/range_days.ndjson" | sed 's/^/  /'
echo "What the guest says of every fiftieth day of a kind (days so far, mean of the last seven maxima):"
head -n 3 "$out/trends.ndjson" | sed 's/^/  /'
echo "What became of the damaged lines:"
sed 's/^/  /' "$out/damaged.ndjson"
echo
echo "demo ok read=$read_ emitted=$emitted rejected=$rejected seconds=$seconds"
