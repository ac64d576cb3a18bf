#!/usr/bin/env bash
# The checks for each edit: format, vet, lint, types, and the unit tests of Go and of the site. Unit tests are those of packages
# that start no Postgres; they run without the race detector.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/check.sh --quick
postgres=$(go list -m)/supabase/internal/database/server
units=$(go list -test -f '{{.ImportPath}} {{join .Deps " "}}' ./... |
  awk -v postgres="$postgres" '$1 ~ /\.test$/ && !index($0 " ", " " postgres " ") { sub(/\.test$/, "", $1); print $1 }')
# shellcheck disable=SC2086 # import paths have no spaces
go test -short -vet=off $units
npm run --silent test --workspace web
