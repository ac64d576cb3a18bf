#!/usr/bin/env bash
# Formatting, vet, static analysis, workflows, types and lint. Prints the problems and exits with 1. --quick leaves out vet
# for macOS and the known vulnerabilities.
set -euo pipefail
cd "$(dirname "$0")/.."

unformatted=$(gofmt -l supabase functions scripts docker web/embed.go)
if [ -n "$unformatted" ]; then
  printf 'gofmt would change:\n%s\n' "$unformatted" >&2
  exit 1
fi
go vet ./...
[ "${1:-}" = --quick ] || CGO_ENABLED=0 GOOS=darwin go vet ./... # macOS is only compiled
go tool staticcheck ./...
# actionlint has its own go.mod, because it needs another version of a YAML library. Shellcheck would depend on the machine.
go tool -modfile=scripts/tools.mod actionlint -shellcheck= -pyflakes= .github/workflows/*.yml
npm run --silent check --workspace web

if [ "${1:-}" = --quick ]; then
  exit
fi

# govulncheck asks a database about each module. Without a way to it, the check is left out, and the last line says so.
database=${GOVULNDB:-https://vuln.go.dev}
unchecked=
if curl --fail --silent --show-error --max-time 20 --output /dev/null "$database/index/db.json"; then
  go tool -modfile=scripts/tools.mod govulncheck -db "$database" ./...
else
  unchecked=", except for known vulnerabilities: govulncheck cannot reach $database"
fi
echo "all clean$unchecked"
