#!/usr/bin/env bash
# Lists every tool that is missing or too old, with the fix. Prints nothing if all are present.
set -euo pipefail

missing=0
complain() { printf 'missing: %s\n' "$1" >&2; missing=1; }

# at_least WANT HAVE: compares dotted versions.
at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n1)" = "$1" ]; }

if ! command -v go >/dev/null; then
  complain 'Go 1.26 or later: https://go.dev/dl/'
elif have=$(go env GOVERSION) && ! at_least go1.26 "$have"; then
  complain "Go 1.26 or later (this is $have): https://go.dev/dl/"
fi
if ! command -v node >/dev/null; then
  complain 'Node 20.19 or later: https://nodejs.org/'
elif have=$(node --version) && ! at_least v20.19 "$have"; then
  complain "Node 20.19 or later (this is $have): https://nodejs.org/"
fi
command -v npm >/dev/null || complain 'npm, which comes with Node: https://nodejs.org/'

case "$(uname -s)-$(uname -m)" in
  Linux-x86_64 | Linux-aarch64 | Darwin-arm64 | Darwin-x86_64) ;;
  *) complain "a Postgres for $(uname -s) $(uname -m): use --database-url with your own Postgres" ;;
esac
exit "$missing"
