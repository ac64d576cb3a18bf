#!/bin/sh
# A stand-in for Supabase's Edge Runtime: Deno, with the part of its API that a main service uses.
[ "$1" = start ] || exit 2
for option in "$@"; do
  case $option in
    --main-service=*) main=${option#*=} ;;
    --ip=*) export STAND_IN_HOST="${option#*=}" ;;
    --port=*) export STAND_IN_PORT="${option#*=}" ;;
    --policy=per_worker) policy=1 ;;
  esac
done
[ "$policy" = 1 ] || exit 2
exec "DENO" run --quiet --no-prompt --no-config --no-check --allow-all "$(dirname "$0")/stand-in.js" "$main/index.ts"
