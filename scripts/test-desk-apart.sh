#!/usr/bin/env bash
# Runs the browser tests of the desk through a gateway in front of separate services, which are named by URL and have upstream's
# variables, as in the compose form. Arguments go to Playwright.
set -euo pipefail
cd "$(dirname "$0")/.."

CHROMIUM_PATH=$(scripts/ensure-chromium.sh)
export CHROMIUM_PATH
data=$(mktemp -d)
chmod 755 "$data" # Postgres runs as another user when we are root
bin/daawo start --port 0 --data "$data/daawo" >"$data/out.log" 2>"$data/server.log" &
server=$!
cleanup() {
  [ ! -f "$data/apart/pids" ] || xargs kill <"$data/apart/pids" 2>/dev/null || true
  kill "$server" 2>/dev/null && wait "$server" 2>/dev/null || true
  rm -rf "$data"
}
trap cleanup EXIT
status=$(scripts/await-server.sh "$server" "$data/daawo" "$data/server.log")
set -a
eval "$status"
scripts/serve-apart.sh "$data/apart" "$data/daawo/storage" desk
. "$data/apart/env"
set +a
if [ $# = 0 ]; then set -- tests/e2e/desk-story.spec.ts tests/e2e/desk.spec.ts tests/e2e/desk-session.spec.ts tests/e2e/desk-passkey.spec.ts tests/e2e/desk-upload.spec.ts; fi
npm run --silent test:e2e --workspace web -- "$@"
