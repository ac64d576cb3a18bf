#!/usr/bin/env bash
# Finds Chromium's headless shell: the same engine without the browser around it, with which most browser tests take half the
# time. With apt and root it installs Debian's package. Elsewhere it prints the Chromium of scripts/ensure-chromium.sh.
set -euo pipefail
cd "$(dirname "$0")/.."

name=chromium-headless-shell
if [ -n "${HEADLESS_CHROMIUM_PATH:-}" ]; then
  printf '%s\n' "$HEADLESS_CHROMIUM_PATH"
  exit
fi
if [ -z "${CHROMIUM_PATH:-}" ]; then # else the caller has chosen a browser
  if ! command -v "$name" >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing Chromium's headless shell for the browser tests (apt-get install $name) …" >&2
    { apt-get update -qq -o DPkg::Lock::Timeout=300 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o DPkg::Lock::Timeout=300 --no-install-recommends "$name"; } >/dev/null 2>&1 ||
      echo "It cannot be installed; the tests take Chromium." >&2
  fi
  if command -v "$name"; then exit; fi
fi
scripts/ensure-chromium.sh
