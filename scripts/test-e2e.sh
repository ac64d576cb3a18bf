#!/usr/bin/env bash
# Starts a stack on free ports and an empty data folder, and runs the contract tests and the browser tests against it. The
# contract tests run a second time through a gateway whose services are somewhere else, as in the compose form.
# Arguments go to Playwright.
set -euo pipefail
cd "$(dirname "$0")/.."

CHROMIUM_PATH=$(scripts/ensure-chromium.sh)
export CHROMIUM_PATH

# The contact channels of an organisation that does not exist.
export WHATSAPP_NUMBER=252610000000 CONTACT_EMAIL=support@example.org FACEBOOK_URL=https://www.facebook.com/example

data=$(mktemp -d)
chmod 755 "$data" # Postgres runs as another user when we are root
bin/daawo start --port 0 --data "$data/daawo" >"$data/out.log" 2>"$data/server.log" &
server=$!
gateway=
cleanup() {
  for pid in $gateway $server; do
    kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true
  done
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

contract() { npm exec --workspace web -- vitest run --config tests/stack/vitest.config.ts; }

echo "-- contract tests"
contract

echo "-- contract tests through a gateway in front of services elsewhere"
env -u ANON_KEY -u SERVICE_ROLE_KEY -u JWT_SECRET -u SITE_URL \
  AUTH_URL="$AUTH_URL" REST_URL="$REST_URL" STORAGE_URL="$STORAGE_URL" FUNCTIONS_URL="$FUNCTIONS_URL" \
  bin/daawo serve gateway --port 0 --data "$data/gateway" >"$data/gateway.log" 2>&1 &
gateway=$!
for _ in $(seq 100); do
  if front=$(grep -oE 'http://[0-9.]+:[0-9]+' "$data/gateway.log"); then break; fi
  sleep 0.1
done
API_URL=$front contract

echo "-- browser"
npm run --silent test:e2e --workspace web -- "$@"
