# Sourced by the scripts that test a stack of their own. own_stack NAME=VALUE… starts it on free ports with an empty folder "$data",
# writes its debug log to "$data/server.log" and exports its addresses and keys. The array `pids` holds the processes that end with
# the script.
# shellcheck shell=bash

# Contact channels of an invented organization.
export WHATSAPP_NUMBER=252610000000 CONTACT_EMAIL=support@example.org FACEBOOK_URL=https://www.facebook.com/example

data=$(mktemp -d)
chmod 755 "$data" # Postgres runs as another user when we are root
pids=()

# stop PID ends a process before the script does. It fails unless the process exits with 0.
stop() {
  local pid left=()
  for pid in "${pids[@]}"; do [ "$pid" = "$1" ] || left+=("$pid"); done
  pids=("${left[@]}")
  kill "$1"
  wait "$1"
}

end_all() {
  local at
  for ((at = ${#pids[@]} - 1; at >= 0; at--)); do # the database belongs to the first one
    kill "${pids[at]}" 2>/dev/null && wait "${pids[at]}" 2>/dev/null || true
  done
  rm -rf "$data"
}
trap end_all EXIT

own_stack() {
  local status
  env LOG_LEVEL=debug "$@" bin/daawo start --port 0 --data "$data/daawo" >"$data/out.log" 2>"$data/server.log" &
  pids+=($!)
  status=$(scripts/await-server.sh $! "$data/daawo" "$data/server.log")
  set -a
  eval "$status"
  set +a
}
