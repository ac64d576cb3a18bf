#!/usr/bin/env bash
# official-commands.sh writes supabase/internal/cli/testdata/official-commands.txt: the names of the
# commands and flags of the official CLI (the npm package supabase, as pinned in package.json), one
# command per line. The CLI prints them itself, so this takes minutes. A test compares docs/official-cli.md
# with the list. Run it after a change of the pinned version.
set -euo pipefail
cd "$(dirname "$0")/.."
list=supabase/internal/cli/testdata/official-commands.txt
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT

# help WORD… prints the help of a command. It must not use the network or settings of this user.
help() {
  HOME=$home DO_NOT_TRACK=1 SUPABASE_TELEMETRY_DISABLED=1 node_modules/.bin/supabase "$@" --help < /dev/null
}

# section NAME prints the lines of a section.
section() {
  awk -v name="$1" '/^[A-Z]/ { on = $0 == name; next } on && /^  [-a-z]/'
}

# walk WORD… prints the lines of a command and of those below it.
walk() {
  local text names
  text=$(help "$@")
  names=$(section FLAGS <<< "$text" | awk '{ for (i = 1; i <= NF && $i ~ /^-/; i++) { sub(",$", "", $i); sub("[[=].*", "", $i); print $i } }')
  echo "$*" $names
  for name in $(section SUBCOMMANDS <<< "$text" | awk '{ sub(",$", "", $1); print $1 }'); do
    walk "$@" "$name"
  done
}

for name in $(help | section SUBCOMMANDS | awk '{ sub(",$", "", $1); print $1 }'); do
  walk "$name"
done > "$home/list"
mv "$home/list" "$list"
wc -l "$list"
