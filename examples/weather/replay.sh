#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Replays 120 days of weather in a paced domain, one day in 50 ms, and shows what its clock admitted. Writes below demo-out/replay/ only.
set -eu
cd "$(dirname "$0")/../.."
out=demo-out/replay
rm -rf "$out"
mkdir -p "$out"
: >"$out/feed.ndjson"
sed "s#@ROOT@#$PWD#; /^START /d" examples/weather/replay.nspl >"$out/replay.nspl" # START comes when its ticks are followed
start=$(grep '^START ' examples/weather/replay.nspl)

node=
trap '[ -z "$node" ] || { kill "$node" 2>/dev/null; wait "$node" 2>/dev/null || :; }' EXIT
bin/nervixd dev --data "$out/data" --file-root "$PWD" --session-listen 127.0.0.1:0 --http-listen 127.0.0.1:0 --admin-listen 127.0.0.1:0 \
  >"$out/ready" 2>"$out/nervixd.log" &
node=$!
tries=0
until grep -q "nervixd ready" "$out/ready"; do
  tries=$((tries + 1))
  if [ "$tries" -gt 600 ] || ! kill -0 "$node" 2>/dev/null; then
    echo "the node did not start:" >&2
    tail -n 20 "$out/nervixd.log" >&2
    exit 1
  fi
  sleep 0.1
done
export NERVIX_CONTEXT="$PWD/$out/data/context.json"
nervix() { bin/nervix --domain replay "$@"; }

bin/nervix -f "$out/replay.nspl" >"$out/applied.log"
echo "Replaying 2012 from January, one day in 50 ms: each line is appended to the feed when the clock has reached its day."

# The ticks of the domain's clock say which day it is. On day 80 the line of day 1 comes once more, and is too late.
origin=1325376000000000000 # 2012-01-01T00:00:00Z
day_ns=86400000000000
bin/nervix --domain replay domain-clock --for 5m --format jsonl >"$out/ticks.jsonl" 2>"$out/clock.log" & # ended below, after the last day
clock=$!
tries=0
until grep -q attached "$out/ticks.jsonl" || [ "$tries" -gt 300 ]; do
  tries=$((tries + 1))
  sleep 0.1
done
nervix -c "$start" >>"$out/applied.log"
exec 3<examples/weather/data/daily.ndjson
tail -n +1 -f --pid="$clock" "$out/ticks.jsonl" | { fed=0 ended=; while IFS= read -r event; do
  case $event in *'"type":"tick"'*) ;; *) continue ;; esac
  boundary=${event#*\"boundary_ns\":}
  day=$(((${boundary%%,*} - origin) / day_ns))
  while [ "$fed" -le "$day" ] && [ "$fed" -lt 120 ]; do
    IFS= read -r row <&3
    printf '%s\n' "$row" >>"$out/feed.ndjson"
    fed=$((fed + 1))
    [ "$fed" -ne 80 ] || head -n 1 examples/weather/data/daily.ndjson >>"$out/feed.ndjson"
  done
  if [ "$fed" -ge 120 ] && [ -z "$ended" ]; then # once: a second signal would not wait for the farewell
    ended=1
    kill "$clock"
  fi
done; }
wait "$clock"
fed=$(wc -l <"$out/feed.ndjson")

# What was fed last is still on its way for a moment.
tries=0
while [ "$(cat "$out/arrivals.ndjson" "$out/late.ndjson" 2>/dev/null | wc -l)" -lt 121 ] && [ "$tries" -lt 300 ]; do
  tries=$((tries + 1))
  sleep 0.1
done

echo
echo "The clock, as \`nervix --domain replay domain-clock\` tells it:"
nervix domain-clock --for 300ms | head -n 4 | sed 's/^/  /'
echo "Rows admitted, and the domain time at which they passed the junction:"
head -n 3 "$out/arrivals.ndjson" | sed 's/^/  /'
echo "The latecomer:"
sed 's/^/  /' "$out/late.ndjson"
ticks=$(grep -c '"type":"tick"' "$out/ticks.jsonl" || :)
admitted=$(wc -l <"$out/arrivals.ndjson")
late=$(wc -l <"$out/late.ndjson")
nervix -c STOP >/dev/null
kill "$node"
wait "$node" 2>/dev/null || :
node=
echo
echo "replay ok lines=$fed admitted=$admitted late=$late ticks=$ticks"
