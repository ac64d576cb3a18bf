#!/usr/bin/env bash
# Builds the whole product into one file, for this platform or for TARGETOS and TARGETARCH. PACKAGE is the folder of that platform's
# Postgres, EXTENSIONS that of its compiled extensions. It needs the built site. The Dockerfile's stage build-embedded runs it.
# `make build` does the same for this platform, but only for changed parts.
#   scripts/build-embedded.sh FILE PACKAGE EXTENSIONS
set -euo pipefail
cd "$(dirname "$0")/.."

go run ./supabase/internal/database/server/pack supabase/internal/database/server/bundle/postgres.zip "$2" "$3"
# nodynamic: use only the embedded HEIC decoder. Otherwise the binary would need a dynamic loader.
CGO_ENABLED=0 GOOS=${TARGETOS:-} GOARCH=${TARGETARCH:-} go build -trimpath -tags bundle,nodynamic \
  -ldflags "-s -w -X main.version=${VERSION:-dev}" -o "$1" ./supabase
