#!/usr/bin/env bash
# Waits until the server with the data folder DATA is ready and prints its addresses and keys as shell assignments. When the
# process PID ends before, prints its log LOG and fails.
# Usage: await-server.sh PID DATA LOG
set -euo pipefail
until bin/daawo status --data "$2" -o env 2>/dev/null; do
  if ! kill -0 "$1" 2>/dev/null; then
    cat "$3" >&2
    exit 1
  fi
  sleep 0.1
done
