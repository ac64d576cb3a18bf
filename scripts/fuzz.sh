#!/usr/bin/env bash
# fuzz.sh TIME fuzzes every parser of network input for TIME (such as 1m), one target on each processor at a time. A failing
# input is written to testdata/fuzz beside the target.
set -euo pipefail
cd "$(dirname "$0")/.."
export each=$1

# fuzz runs the target $2 of the folder $1. If the time ends while an input starts, package testing reports a failure without
# an input; then it runs again.
fuzz() {
  local out
  for _ in 1 2 3; do
    if out=$(go test -run '^$' -fuzz "^$2\$" -fuzztime "$each" -fuzzminimizetime 1s -parallel 1 "./$1" 2>&1); then
      echo "$1 $2: $(grep -oE 'execs: [0-9]+' <<<"$out" | tail -n1)"
      return
    fi
    grep -q 'context deadline exceeded' <<<"$out" && ! grep -q 'Failing input' <<<"$out" || break
  done
  printf '%s %s FAILED\n%s\n' "$1" "$2" "$out" >&2
  return 1
}
export -f fuzz

grep -roE '^func Fuzz\w+' --include='*_test.go' supabase functions | sed -E 's|/[^/]*:func | |' | sort |
  xargs -P "$(getconf _NPROCESSORS_ONLN)" -L 1 bash -euc 'fuzz "$0" "$1"'
