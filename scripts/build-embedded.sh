#!/usr/bin/env bash
# Builds the whole product into one file, for a machine that has the site built and the npm packages installed (the
# Dockerfile's second target). `make build` does the same with what has changed only.
set -euo pipefail
cd "$(dirname "$0")/.."

go run ./supabase/internal/postgres/pack
# nodynamic: the HEIC decoder inside, never one of the machine; without it the file would want a dynamic loader.
CGO_ENABLED=0 go build -trimpath -tags bundle,nodynamic -ldflags "-s -w -X main.version=${VERSION:-dev}" -o "${1:-bin/daawo}" ./supabase
