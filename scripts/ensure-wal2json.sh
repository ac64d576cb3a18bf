#!/usr/bin/env bash
# Finds a Postgres with wal2json for the test that compares Realtime with upstream's functions: the one in
# WAL2JSON_POSTGRES, or Debian's, installed or unpacked into the cache. Prints its folder, or explains what is missing.
# It installs nothing.
set -euo pipefail

if [ -n "${WAL2JSON_POSTGRES:-}" ]; then
  printf '%s\n' "$WAL2JSON_POSTGRES"
  exit 0
fi

version=15 # of Debian 12; upstream's own tests use it, too
cache=${XDG_CACHE_HOME:-$HOME/.cache}/daawo/wal2json
if [ "$(id -u)" = 0 ]; then cache=/var/cache/daawo/wal2json; fi # Postgres runs as another user
for root in "" "$cache"; do
  home=$root/usr/lib/postgresql/$version
  if [ -e "$home/lib/wal2json.so" ] && [ -x "$home/bin/postgres" ]; then
    printf '%s\n' "$home"
    exit 0
  fi
done

packages="postgresql-$version postgresql-$version-wal2json"
if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
  echo "missing: $packages (Debian's names)" >&2
  exit 1
fi
# Only the superuser can update the lists of packages. Others use those that the machine has.
if [ "$(id -u)" = 0 ]; then apt-get update -qq -o DPkg::Lock::Timeout=120 >&2 || true; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"
# shellcheck disable=SC2086 # two words
if ! apt-get download -qq $packages >/dev/null 2>errors; then
  cat errors >&2
  echo "Debian's packages $packages cannot be downloaded" >&2
  exit 1
fi
mkdir root
for package in *.deb; do dpkg-deb -x "$package" root; done
missing=$(ldd "root/usr/lib/postgresql/$version/bin/postgres" | awk '/not found/ { print $1 }')
if [ -n "$missing" ]; then
  echo "Postgres $version needs libraries that this machine lacks: ${missing//$'\n'/ }" >&2
  exit 1
fi
mkdir -p "$(dirname "$cache")"
cp -a root "$cache.new"
mv -T "$cache.new" "$cache"
printf '%s\n' "$cache/usr/lib/postgresql/$version"
