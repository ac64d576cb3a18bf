#!/usr/bin/env bash
# Everything: Go with the race detector, the site's unit tests, and a browser against the running stack.
set -euo pipefail
cd "$(dirname "$0")/.."

begun=$SECONDS
step() {
  local from=$SECONDS
  printf '\n== %s\n' "$1"
  shift
  "$@"
  printf '== done in %d s\n' $((SECONDS - from))
}

step "Go" scripts/test-go.sh
step "site" npm run --silent test --workspace web
step "browser" scripts/test-e2e.sh
step "drills" go run ./scripts/drill -short kill retry outage slow logs
printf '\nall tests passed in %d s\n' $((SECONDS - begun))
