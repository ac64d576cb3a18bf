#!/usr/bin/env bash
# The Go tests with the race detector: of the packages that the arguments name, or of all. Many tests wait for Postgres or a
# time limit, so the number of parallel packages is the number of processors plus one. atexit_sleep_ms shortens the detector's
# default pause of one second when a program ends. The detector skips bcrypt's cipher, because it would make each password
# take a second instead of 60 ms. `make check` has run vet. housetest reads files and starts no goroutine, so it needs no
# detector, with which it takes five times as long.
set -euo pipefail
cd "$(dirname "$0")/.."

rules=$(go list -m)/supabase/internal/housetest
all=$(go list "${@:-./...}")
packages=$(grep -vx "$rules" <<<"$all" || true)
failed=0
if [ "$packages" != "$all" ]; then
  go test -vet=off "$rules" || failed=1
fi
if [ -n "$packages" ]; then
  # shellcheck disable=SC2086 # import paths have no spaces
  GORACE="atexit_sleep_ms=10 ${GORACE:-}" go test -race -vet=off -timeout 30m \
    -gcflags=golang.org/x/crypto/blowfish=-race=false -p $(($(getconf _NPROCESSORS_ONLN) + 1)) $packages || failed=1
fi
exit $failed
