#!/usr/bin/env bash
# Finds Chromium for the browser tests: the one in CHROMIUM_PATH or an installed one. With apt and root it installs Debian's
# package and the fonts of the printed guides (metric-compatible with Arial). Prints the path, or explains how to install it.
set -euo pipefail

find_chromium() {
  local candidate
  for candidate in "${CHROMIUM_PATH:-}" chromium chromium-browser google-chrome; do
    if [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1; then
      command -v "$candidate"
      return 0
    fi
  done
  local mac="/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
  if [ -x "$mac" ]; then printf '%s\n' "$mac"; return 0; fi
  return 1
}

if find_chromium; then exit 0; fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "Installing Chromium for the browser tests (apt-get install chromium fonts-liberation) …" >&2
  apt-get update -qq -o DPkg::Lock::Timeout=300 >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o DPkg::Lock::Timeout=300 --no-install-recommends chromium fonts-liberation >/dev/null 2>&2
  if find_chromium; then exit 0; fi
fi
cat >&2 <<'TXT'
The browser tests need Chromium and none was found.
  Debian, Ubuntu:  sudo apt-get install chromium fonts-liberation
  macOS:           brew install --cask chromium
  elsewhere:       set CHROMIUM_PATH to a Chromium or Chrome binary
TXT
exit 1
