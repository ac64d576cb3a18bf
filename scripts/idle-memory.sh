#!/usr/bin/env bash
# Starts bin/daawo on an empty folder and prints the idle memory of it and its Postgres: the proportional set size of each
# process, which counts shared pages once. Linux only. Argument: seconds to wait (30).
set -euo pipefail
cd "$(dirname "$0")/.."
binary=${DAAWO:-bin/daawo}
data=$(mktemp -d)
chmod 755 "$data" # Postgres runs as another user when we are root
"$binary" start --port 0 --data "$data/daawo" >"$data/out.log" 2>&1 &
server=$!
trap 'kill $server; wait $server 2>/dev/null || true; rm -rf "$data"' EXIT
until "$binary" status --data "$data/daawo" >/dev/null 2>&1; do sleep 0.2; done
sleep "${1:-30}"

total=0
for pid in $server $(cd /proc && for p in [0-9]*; do [ "$(readlink "$p/cwd")" = "$data/daawo/postgres" ] && echo "$p"; done); do
  rollup=$(cat "/proc/$pid/smaps_rollup" 2>/dev/null) || continue # its process has ended
  kb=$(awk '/^Pss:/ { print $2 }' <<<"$rollup")
  anon=$(awk '/^Pss_Anon:/ { print $2 }' <<<"$rollup")
  total=$((total + kb))
  printf '%7d kB  (%6d kB private)  %s\n' "$kb" "$anon" "$(tr '\0' ' ' <"/proc/$pid/cmdline" | cut -c1-90)"
done
printf '%7d kB  total\n' "$total"
