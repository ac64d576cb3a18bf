#!/usr/bin/env bash
# Finds Firefox for the browser tests: the one in FIREFOX_PATH or an installed one. With apt and root it installs Debian's
# package. Prints the path, or explains how to install it.
set -euo pipefail

find_firefox() {
  local candidate
  for candidate in "${FIREFOX_PATH:-}" firefox-esr firefox; do
    if [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1; then
      command -v "$candidate"
      return 0
    fi
  done
  local mac="/Applications/Firefox.app/Contents/MacOS/firefox"
  if [ -x "$mac" ]; then printf '%s\n' "$mac"; return 0; fi
  return 1
}

if find_firefox; then exit 0; fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing Firefox for the browser tests (apt-get install firefox-esr) …" >&2
  apt-get update -qq -o DPkg::Lock::Timeout=300 >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o DPkg::Lock::Timeout=300 --no-install-recommends firefox-esr >/dev/null 2>&1 || true
  if find_firefox; then exit 0; fi
fi
cat >&2 <<'TXT'
The browser tests need Firefox and none was found.
  Debian:     sudo apt-get install firefox-esr
  Ubuntu:     sudo apt-get install firefox
  macOS:      brew install --cask firefox
  elsewhere:  set FIREFOX_PATH to a Firefox binary
TXT
exit 1
