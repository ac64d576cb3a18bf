#!/usr/bin/env bash
# Starts a release archive without Go, Node and environment variables, and requests a page and a table.
#   scripts/try-release.sh FILE
set -euo pipefail

work=$(mktemp -d)
chmod 755 "$work" # Postgres runs as another user when we are root
tar -xzf "$1" -C "$work" --strip-components 1
cd "$work"
alone() { env -i HOME="$work" PATH=/nonexistent "$work/daawo" "$@"; }

# Do not use the function here: in the background it is a subshell, which would receive the signal instead of the server.
env -i HOME="$work" PATH=/nonexistent "$work/daawo" start --port 0 --data "$work/data" >out.log 2>&1 &
server=$!
cleanup() {
  kill "$server" 2>/dev/null && wait "$server" 2>/dev/null || true
  cd / && rm -rf "$work"
}
trap cleanup EXIT

for _ in $(seq 300); do
  if status=$(alone status --data "$work/data" -o env 2>/dev/null); then break; fi
  if ! kill -0 "$server" 2>/dev/null; then
    cat out.log >&2
    exit 1
  fi
  sleep 0.1
done
if [ -z "${status:-}" ]; then
  echo "not ready within 30 s:" >&2
  cat out.log >&2
  exit 1
fi
eval "$status"
# Read each reply completely: grep -q stops at the first match, and curl would fail.
page=$(curl -fsS "$SITE_URL/so/")
grep -q 'lang="so"' <<<"$page"
rows=$(curl -fsS -H "apikey: $ANON_KEY" "$API_URL/rest/v1/resources?select=title&limit=1")
grep -q title <<<"$rows"
query() { alone sql --data "$work/data" -t "$1"; }
if [ "$(query "select count(*) from pg_available_extensions where name = 'vector'")" = 1 ]; then
  distance=$(query "create extension vector; select round(('[1,2]'::vector <-> '[2,3]')::numeric, 2)")
  grep -q 1.41 <<<"$distance"
fi
alone version
echo "$(basename "$1") runs without Go and Node"
