#!/usr/bin/env bash
# The Go tests with the race detector: of the packages that the arguments name, or of all. Many tests wait for Postgres or a
# time limit, so the number of parallel packages is the number of processors plus one. atexit_sleep_ms shortens the detector's
# default pause of one second when a program ends. The detector skips bcrypt's cipher, because it would make each password
# take a second instead of 60 ms. `make check` has run vet. housetest reads files and starts no goroutine, so it needs no
# detector, with which it takes five times as long.
#
# RETRY=1, as in continuous integration, runs a failed test once more, alone. If it passes then, the run passes and names it
# as unsteady. A data race, a panic and a package that does not build fail at once.
set -euo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT

race() {
  GORACE="atexit_sleep_ms=10 ${GORACE:-}" go test -race -vet=off -timeout 30m \
    -gcflags=golang.org/x/crypto/blowfish=-race=false "$@" 2>&1
}

# failed_tests prints the packages that failed, each with a pattern of its failed tests.
failed_tests() {
  awk '/^--- FAIL: / { names = names "|" $3 }
    $1 == "FAIL" && NF > 1 { print $2, "^(" substr(names, 2) ")$"; names = "" }
    $1 == "ok" { names = "" }' "$log"
}

# again runs the failed tests once more, if all failures are those of single tests.
again() {
  [ "${RETRY:-}" = 1 ] && ! grep -qE 'DATA RACE|^panic: |\[(build|setup) failed\]' "$log" || return 1
  local tests package pattern
  tests=$(failed_tests)
  [ -n "$tests" ] && [ "$(wc -l <<<"$tests")" -le 5 ] && ! grep -qF ' ^()$' <<<"$tests" || return 1
  while read -r package pattern; do
    echo "-- once more: $package $pattern"
    race -count 1 -run "$pattern" "$package" </dev/null || return 1
  done <<<"$tests"
  echo "-- unsteady: they failed at first and passed alone"
  cat <<<"$tests"
}

rules=$(go list -m)/supabase/internal/housetest
all=$(go list "${@:-./...}")
packages=$(grep -vx "$rules" <<<"$all" || true)
failed=0
if [ "$packages" != "$all" ]; then
  go test -vet=off "$rules" || failed=1
fi
if [ -n "$packages" ]; then
  # shellcheck disable=SC2086 # import paths have no spaces
  race -p $(($(getconf _NPROCESSORS_ONLN) + 1)) $packages | tee "$log" || again || failed=1
fi
exit $failed
