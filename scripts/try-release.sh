#!/usr/bin/env bash
# Starts an archive of a release as a machine without Go and Node would, and asks for a page and a table.
#   scripts/try-release.sh FILE
set -euo pipefail

work=$(mktemp -d)
chmod 755 "$work" # Postgres runs as another user when we are root
tar -xzf "$1" -C "$work" --strip-components 1
cd "$work"
alone() { env -i HOME="$work" PATH=/nonexistent "$work/daawo" "$@"; }

# Not by the function: in the background that is a shell, which would take the signal in the server's place.
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
  echo "no answer within 30 s:" >&2
  cat out.log >&2
  exit 1
fi
eval "$status"
# Each is read whole: grep -q ends at its find, and curl would fail for want of a reader.
page=$(curl -fsS "$SITE_URL/so/")
grep -q 'lang="so"' <<<"$page"
rows=$(curl -fsS -H "apikey: $ANON_KEY" "$API_URL/rest/v1/resources?select=title&limit=1")
grep -q title <<<"$rows"
alone version
echo "$(basename "$1") runs without Go and Node"
