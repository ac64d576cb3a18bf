#!/usr/bin/env bash
# The Go tests with the race detector. Many wait for Postgres or for a time limit, so one package more than there are
# processors runs at once. By itself the detector keeps every program that ends a second longer, and the tests end hundreds.
set -euo pipefail
cd "$(dirname "$0")/.."

GORACE="atexit_sleep_ms=10 ${GORACE:-}" exec go test -race -p $(($(getconf _NPROCESSORS_ONLN) + 1)) ./...
