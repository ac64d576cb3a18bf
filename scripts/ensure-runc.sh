#!/usr/bin/env bash
# Finds runc for the test that starts the services of compose.yaml (docker/runtime_linux_test.go). With apt and root it installs
# Debian's package. Prints the path, or explains what is missing.
set -euo pipefail

if [ "$(id -u)" != 0 ]; then
  echo "runc needs root to start containers with other users: run this test as root" >&2
  exit 1
fi
if command -v runc; then exit 0; fi
if command -v apt-get >/dev/null 2>&1; then
  echo "Installing runc for the test of compose.yaml (apt-get install runc) …" >&2
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq >&2
  apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=120 runc >/dev/null 2>&2
  if command -v runc; then exit 0; fi
fi
echo "runc was not found: install it with apt-get install runc, or from https://github.com/opencontainers/runc" >&2
exit 1
