#!/usr/bin/env bash
# Builds the archives of a release into dist/: one file per platform with the site, the schema and the platform's Postgres, and
# SHA256SUMS. Then it unpacks this machine's archive and starts it without Go, Node and environment variables.
# The Linux archives have the extensions of Postgres in C that this machine can compile. With MADE=1 those of bin/extensions are
# taken, which the workflow of a release compiles for both processors.
#   scripts/release.sh [linux-amd64 linux-arm64 darwin-amd64 darwin-arm64]
set -euo pipefail
cd "$(dirname "$0")/.."

version=${VERSION:-$(git describe --tags --always --dirty)}
if [ $# -eq 0 ]; then set -- linux-amd64 linux-arm64 darwin-amd64 darwin-arm64; fi

[ -f web/dist/index.html ] || { echo "web/dist is empty: run make build first" >&2; exit 1; }
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
chmod 755 "$work" # Postgres runs as another user when we are root
rm -rf dist
mkdir dist

for target in "$@"; do
  os=${target%-*} arch=${target#*-}
  echo "building $target"
  platform="$os-${arch/amd64/x64}"
  from=$(scripts/postgres-package.sh "$platform" "$work")
  if [ "$os" = linux ] && [ -z "${MADE:-}" ]; then
    # They run on Debian 11 and later.
    go run ./supabase/internal/database/server/compile -platform "$platform" -postgres "$from" -glibc 2.31
  fi
  go run ./supabase/internal/database/server/pack "$work/$target.zip" "$from" "bin/extensions/$platform" \
    "bin/cluster/$platform"
  # The overlay replaces the Postgres that make build packed, without changing files.
  printf '{"Replace": {"%s": "%s"}}' "$PWD/supabase/internal/database/server/bundle/postgres.zip" "$work/$target.zip" >"$work/overlay.json"
  name="daawo-$version-$target"
  mkdir "$work/$name"
  CGO_ENABLED=0 GOOS=$os GOARCH=$arch go build -trimpath -tags bundle,nodynamic -overlay "$work/overlay.json" \
    -ldflags "-s -w -X main.version=$version" -o "$work/$name/daawo" ./supabase
  scripts/release-docs.sh "$work/$name"
  cp scripts/daawo.service scripts/daawo.socket "$work/$name/"
  tar -C "$work" --owner 0 --group 0 --sort name -czf "dist/$name.tar.gz" "$name"
done
(cd dist && sha256sum ./*.tar.gz | sed 's| \./| |' >SHA256SUMS)

host="$(go env GOHOSTOS)-$(go env GOHOSTARCH)"
if [ -f "dist/daawo-$version-$host.tar.gz" ]; then
  scripts/try-release.sh "dist/daawo-$version-$host.tar.gz"
fi
ls -l dist
