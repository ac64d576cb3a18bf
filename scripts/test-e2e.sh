#!/usr/bin/env bash
# Starts a stack on free ports and an empty data folder, and runs the contract tests and the browser tests against it.
# Arguments go to Playwright.
set -euo pipefail
cd "$(dirname "$0")/.."

CHROMIUM_PATH=$(scripts/ensure-chromium.sh)
export CHROMIUM_PATH

data=$(mktemp -d)
chmod 755 "$data" # Postgres runs as another user when we are root
bin/daawo start --port 0 --data "$data/daawo" >"$data/out.log" 2>"$data/server.log" &
server=$!
cleanup() {
  kill "$server" 2>/dev/null && wait "$server" 2>/dev/null || true
  rm -rf "$data"
}
trap cleanup EXIT

for _ in $(seq 200); do
  if status=$(bin/daawo status --data "$data/daawo" -o env 2>/dev/null); then break; fi
  if ! kill -0 "$server" 2>/dev/null; then cat "$data/server.log" >&2; exit 1; fi
  sleep 0.1
done
set -a
eval "$status"
set +a

npx --workspace web vitest run --config tests/stack/vitest.config.ts
npm run --silent test:e2e --workspace web -- "$@"
