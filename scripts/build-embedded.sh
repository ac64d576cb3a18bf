#!/usr/bin/env bash
# Builds the whole product into one file. It needs the built site and the installed npm packages. The Dockerfile's stage
# build-embedded runs it. `make build` does the same, but only for changed parts.
set -euo pipefail
cd "$(dirname "$0")/.."

go run ./supabase/internal/database/server/pack
# nodynamic: use only the embedded HEIC decoder. Otherwise the binary would need a dynamic loader.
CGO_ENABLED=0 go build -trimpath -tags bundle,nodynamic -ldflags "-s -w -X main.version=${VERSION:-dev}" -o "${1:-bin/daawo}" ./supabase
