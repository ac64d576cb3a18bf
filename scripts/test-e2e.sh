#!/usr/bin/env bash
# Runs the browser tests against a stack of their own. At the end it searches the server's log for confidential data.
# Arguments go to Playwright.
set -euo pipefail
cd "$(dirname "$0")/.."

HEADLESS_CHROMIUM_PATH=$(scripts/ensure-headless-chromium.sh)
CHROMIUM_PATH=$(scripts/ensure-chromium.sh)
FIREFOX_PATH=$(scripts/ensure-firefox.sh)
OLDEST_CHROMIUM_PATH=$(scripts/ensure-oldest-chromium.sh)
export HEADLESS_CHROMIUM_PATH CHROMIUM_PATH FIREFOX_PATH OLDEST_CHROMIUM_PATH

. scripts/own-stack.sh
own_stack SUPABASE_AUTH_OAUTH_SERVER_ENABLED=true # off by default; for tests/e2e/auth
npm run --silent test:e2e --workspace web -- "$@"

if [ $# = 0 ]; then # a part of the tests logs too little
  echo "-- log search"
  go run ./scripts/logsearch "$data/server.log"
fi
