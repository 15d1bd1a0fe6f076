#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds the guests of one language:  wasm/guest/build.sh LANG [DIR [SOURCE]]
#
# DIR is where the modules go, wasm/guest/testdata if left out. The recipe of a language is wasm/guest/LANG/build.sh; it is run in its
# own folder with DIR and SOURCE as its arguments, and says in its head what has to be installed. After a build into testdata run
#
#   wasm/guest/build.sh sums
#
# which writes SHA256SUMS, the list of the committed modules and of the C sources they were built from.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
lang="${1:?usage: build.sh LANG [DIR]}"
if [[ "$lang" == sums ]]; then
  cd "$here/testdata"
  { find . -name '*.wasm' -printf '%P\n'; ls ../c/*.[ch] ../c/tests/*.c; } | LC_ALL=C sort | xargs sha256sum > SHA256SUMS
  exit
fi
[[ -x "$here/$lang/build.sh" ]] || { echo "build.sh: there is no recipe $lang/build.sh" >&2; exit 2; }
dir="${2:-$here/testdata}"
mkdir -p "$dir"
dir="$(cd "$dir" && pwd)"
cd "$here/$lang"
exec ./build.sh "$dir" "${@:3}"
