#!/usr/bin/env bash
# The Go tests with the race detector. Many tests wait for Postgres or a time limit, so the number of parallel packages is the
# number of processors plus one. atexit_sleep_ms shortens the detector's default pause of one second when a program ends. The
# detector skips bcrypt's cipher, because it would make each password take a second instead of 60 ms.
set -euo pipefail
cd "$(dirname "$0")/.."

GORACE="atexit_sleep_ms=10 ${GORACE:-}" exec go test -race -timeout 30m -gcflags=golang.org/x/crypto/blowfish=-race=false \
  -p $(($(getconf _NPROCESSORS_ONLN) + 1)) ./...
