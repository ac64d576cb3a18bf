#!/usr/bin/env bash
# The Go tests of the packages that the arguments name, with the race detector, or of all. Of all, those that start whole
# programs run without the detector, which takes as long again: they compare what programs print and store, and the code inside
# has its own tests. LONG=1 runs all with it.
#
# Many tests wait for Postgres or a time limit, so more packages run at once than there are processors. atexit_sleep_ms shortens
# the detector's default pause of one second when a program ends. The detector skips bcrypt's cipher, because it would make each
# password take a second instead of 60 ms. `make check` has run vet. housetest reads files and starts no goroutine.
#
# `test-go.sh compile` only fills the build cache for the tests with the detector.
#
# RETRY=1, as in continuous integration, runs a failed test once more, alone. If it passes then, the run passes and names it
# as unsteady. A data race, a panic and a package that does not build fail at once.
set -euo pipefail
cd "$(dirname "$0")/.."

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

# The detector needs no debug information. NATS, the dearest package, is only a peer in three tests: it is not optimized. It is
# watched, because the linker may take its copy of a generic function of sync/atomic for all packages.
detector=(-race -gcflags=all=-dwarf=false "-gcflags=golang.org/x/crypto/blowfish=-dwarf=false -race=false"
  "-gcflags=github.com/nats-io/nats-server/v2/server=-dwarf=false -N -l")

plain() { go test -vet=off -timeout 30m "$@" 2>&1; }

race() { CGO_ENABLED=1 GORACE="atexit_sleep_ms=10 ${GORACE:-}" plain "${detector[@]}" "$@"; }

# compile compiles the packages $2 and their tests for $1, race or plain. Without collecting garbage it takes an eighth less
# time, and the tests themselves keep their environment. `go test` reports the errors.
compile() (
  flags=()
  if [ "$1" = race ]; then export CGO_ENABLED=1 && flags=("${detector[@]}"); fi
  # shellcheck disable=SC2086 # import paths have no spaces
  GOGC=off GOMEMLIMIT=768MiB go list -export -deps -test "${flags[@]}" $2 >/dev/null 2>&1 || true
)

# failed_tests prints the packages that failed in the log $1, each with a pattern of its failed tests.
failed_tests() {
  awk '/^--- FAIL: / { names = names "|" $3 }
    $1 == "FAIL" && NF > 1 { print $2, "^(" substr(names, 2) ")$"; names = "" }
    $1 == "ok" { names = "" }' "$1"
}

# again runs the failed tests of a log once more with $1, race or plain, if all failures are those of single tests.
again() {
  local log=$logs/$1 tests package pattern
  [ "${RETRY:-}" = 1 ] && ! grep -qE 'DATA RACE|^panic: |\[(build|setup) failed\]' "$log" || return 1
  tests=$(failed_tests "$log")
  [ -n "$tests" ] && [ "$(wc -l <<<"$tests")" -le 5 ] && ! grep -qF ' ^()$' <<<"$tests" || return 1
  while read -r package pattern; do
    echo "-- once more: $package $pattern"
    "$1" -count 1 -run "$pattern" "$package" </dev/null || return 1
  done <<<"$tests"
  echo "-- unsteady: they failed at first and passed alone"
  cat <<<"$tests"
}

# run tests the packages $2, one a line, with $1, race or plain, and keeps a log. The longest begin first, because at the end
# they would leave processors idle.
run() {
  [ -n "$2" ] || return 0
  compile "$1" "$2"
  # shellcheck disable=SC2046 # import paths have no spaces
  "$1" -p $(($(getconf _NPROCESSORS_ONLN) * 3 / 2)) $(grep -E "$longest" <<<"$2"; grep -vE "$longest" <<<"$2") | tee "$logs/$1"
}

step=${1:-}
[ "$step" != compile ] || shift
all=$(go list "${@:-./...}")
module=$(go list -m)
longest="^$module/supabase(|/acceptance|/stack|/internal/(app|database/(backup/physical|migrate|schemadiff|server)|\
functions/(deploy|jobs)|engine/(auth|auth/gotrue|realtime|realtime/changes|rest)))$"
unraced="^$module/(docker|scripts/.*|functions/.*|supabase|supabase/acceptance|supabase/internal/(functions/(deploy|scaffold)|\
database/(migrate|schemadiff|server|backup/physical)|housetest))$"
if [ "${LONG:-}" = 1 ] || [ $# -gt 0 ]; then unraced="^$module/supabase/internal/housetest$"; fi
watched=$(grep -vE "$unraced" <<<"$all" || true)
if [ "$step" = compile ]; then
  compile race "$watched"
  exit
fi
# Both at a time, because the last package of each leaves processors idle. The tests that fail run again when both have ended.
failed=0
run race "$watched" &
raced=0 plained=0
run plain "$(grep -E "$unraced" <<<"$all" || true)" || plained=1
wait $! || raced=1
[ $plained = 0 ] || again plain || failed=1
[ $raced = 0 ] || again race || failed=1
exit $failed
