#!/usr/bin/env bash
# All tests: Go with the race detector, the browser tests, the short drills and the site's unit tests.
set -euo pipefail
cd "$(dirname "$0")/.."

# in_memory succeeds if /dev/shm allows programs and has enough memory for the tests' 2 GB.
in_memory() {
  [ "$(df --output=avail -BG /dev/shm 2>/dev/null | tail -n1 | tr -dc 0-9)" -ge 4 ] 2>/dev/null &&
    [ "$(awk '/^MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)" -ge 8 ] &&
    findmnt -no OPTIONS -T /dev/shm | grep -qvw noexec
}

# The tests start hundreds of databases and browsers. Keep their files in memory if possible, because a busy disk can block for
# seconds. Go's build files stay on disk.
if in_memory; then
  export GOTMPDIR=${GOTMPDIR:-${TMPDIR:-/tmp}}
  TMPDIR=$(mktemp -d /dev/shm/daawo-test.XXXXXX)
  export TMPDIR
  chmod 1777 "$TMPDIR" # Postgres runs as another user when we are root
  trap 'rm -rf "$TMPDIR"' EXIT
fi

if ! command -v "$(go env CC)" >/dev/null; then
  echo "no C compiler ($(go env CC)): the race detector needs one, for example gcc" >&2
  exit 1
fi

# TestGolden compares changes of rows with upstream's functions. It is skipped where this fails.
scripts/ensure-wal2json.sh >/dev/null || true

begun=$SECONDS
summary=
failed=0

# step runs a command and notes its result. The later steps run also if it fails.
step() {
  local name=$1 from=$SECONDS result=passed
  printf '\n== %s\n' "$name"
  shift
  if ! "$@"; then
    result=FAILED
    failed=1
  fi
  summary+=$(printf '%-10s %s in %d s' "$name" "$result" $((SECONDS - from)))$'\n'
}

# The databases of edgetest come from the program that is built, instead of one that the tests would compile.
export DAAWO=$PWD/bin/daawo
step "Go" scripts/test-go.sh
step "browser" scripts/test-e2e.sh
# The drills mostly wait, so the unit tests of the site run beside them.
site_log=$(mktemp)
npm run --silent test --workspace web >"$site_log" 2>&1 &
site=$!
step "drills" go run ./scripts/drill -short kill retry outage pool disk slow soak logs upgrade
await_site() {
  local result=0
  wait "$site" || result=$?
  cat "$site_log"
  return $result
}
step "site" await_site
printf '\n%stests ended after %d s\n' "$summary" $((SECONDS - begun))
exit $failed
