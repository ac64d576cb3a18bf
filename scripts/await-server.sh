#!/usr/bin/env bash
# Waits until the server with the data folder DATA is ready and prints its addresses and keys as shell assignments. If the
# process PID ends before, or the server is not ready after two minutes, prints its log LOG and fails.
# Usage: await-server.sh PID DATA LOG
set -euo pipefail
until bin/daawo status --data "$2" -o env 2>/dev/null; do
  if ! kill -0 "$1" 2>/dev/null || [ "$SECONDS" -gt 120 ]; then
    cat "$3" >&2
    echo "the server $1 ended, or is not ready after $SECONDS s" >&2
    exit 1
  fi
  sleep 0.1
done
