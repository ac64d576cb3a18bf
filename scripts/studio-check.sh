#!/usr/bin/env bash
# Starts a new project with the real Studio and walks through its pages in Chromium: scripts/studio-pages.mjs. STUDIO is the
# file of the archive; without it `daawo studio add` downloads it. Screenshots are in SHOTS (default: a temporary folder).
set -euo pipefail
cd "$(dirname "$0")/.."

CHROMIUM_PATH=$(scripts/ensure-chromium.sh)
SHOTS=${SHOTS:-$(mktemp -d)}
export CHROMIUM_PATH SHOTS
dir=$(mktemp -d)
chmod 755 "$dir" # Postgres runs as another user when we are root
bin/daawo init "$dir/shop" >/dev/null
mkdir -p "$dir/shop/supabase/functions/hello"
echo 'Deno.serve(() => new Response("hello"))' >"$dir/shop/supabase/functions/hello/index.ts"
bin/daawo studio add ${STUDIO:+--from "$STUDIO"} --workdir "$dir/shop"
bin/daawo start --port 0 --workdir "$dir/shop" --data "$dir/data" >"$dir/out.log" 2>&1 &
server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null || true; rm -rf "$dir"' EXIT
until bin/daawo status --workdir "$dir/shop" --data "$dir/data" >/dev/null 2>&1; do
  kill -0 $server 2>/dev/null || { cat "$dir/out.log" >&2; exit 1; }
  sleep 0.2
done
eval "$(bin/daawo status --workdir "$dir/shop" --data "$dir/data" -o env | sed -n 's/^\(STUDIO_URL\|API_URL\|ANON_KEY\)=/export \1=/p')"
if ! node scripts/studio-pages.mjs; then
  cat "$dir/out.log" "$dir/data/studio/output.log" >&2
  exit 1
fi
echo "screenshots: $SHOTS"
