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

begun=$SECONDS
summary=
failed=0

# Downloads mostly wait for the network, so they run beside the build. A step that lacks a program asks for it again, and fails.
# TestGolden compares changes of rows with upstream's functions. It is skipped where there is no wal2json.
fetch() {
  scripts/ensure-wal2json.sh || true
  scripts/ensure-headless-chromium.sh
  scripts/ensure-chromium.sh
  scripts/ensure-firefox.sh
}
fetch >/dev/null &
fetched=$!
scripts/test-go.sh compile & # fills the gaps of the build, which waits for downloads
compiled=$!
make --no-print-directory -j2 build
wait "$fetched" || true
scripts/ensure-oldest-chromium.sh >/dev/null & # npm ci would remove it
fetched=$!

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
wait "$compiled" || true # it stops if npm changes folders below it; the tests compile the rest
step "Go" scripts/test-go.sh
wait "$fetched" || true
step "browser" scripts/test-e2e.sh

# finish waits for the process $1 and prints its log $2.
finish() {
  local result=0
  wait "$1" || result=$?
  cat "$2"
  return $result
}
# The drills and the contract tests mostly wait, so two halves of the drills, the contract tests and the unit tests of the site
# run at a time.
logs=$(mktemp -d)
go build -o "$logs/drill" ./scripts/drill
"$logs/drill" -short slow soak logs upgrade >"$logs/drills" 2>&1 &
drills=$!
scripts/test-contract.sh >"$logs/contract" 2>&1 &
contract=$!
npm run --silent test --workspace web >"$logs/site" 2>&1 &
site=$!
step "faults" "$logs/drill" -short kill retry outage pool disk
step "drills" finish "$drills" "$logs/drills"
step "contract" finish "$contract" "$logs/contract"
step "site" finish "$site" "$logs/site"
rm -rf "$logs"
printf '\n%stests ended after %d s\n' "$summary" $((SECONDS - begun))
exit $failed
