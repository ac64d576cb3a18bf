#!/usr/bin/env bash
# The Go tests with the race detector. Many wait for Postgres or for a time limit, so one package more than there are
# processors runs at once. By itself the detector keeps every program that ends a second longer, and the tests end hundreds.
# bcrypt's cipher is slow on purpose and shares nothing: watched by the detector, a password takes a second instead of 60 ms.
set -euo pipefail
cd "$(dirname "$0")/.."

GORACE="atexit_sleep_ms=10 ${GORACE:-}" exec go test -race -gcflags=golang.org/x/crypto/blowfish=-race=false \
  -p $(($(getconf _NPROCESSORS_ONLN) + 1)) ./...
