#!/usr/bin/env bash
# Gives the module a path with a host, so that `go get` finds it and other modules need no `replace`:
#
#   scripts/module-path.sh PATH          change the files, then compile and vet all packages and their tests
#   scripts/module-path.sh -n PATH       change the files only
#   TEST=1 scripts/module-path.sh PATH   run `make test`, too
#
# PATH is the address of the repository without https://, such as example.org/team/daawo. The script changes go.mod, the imports,
# the templates of `init` and of new functions, and the docs. Commit the result. It can be run again with another PATH.
set -euo pipefail
cd "$(dirname "$0")/.."

check=1
if [ "${1:-}" = -n ]; then check= && shift; fi
path=${1:-}
if [ $# -ne 1 ] || ! [[ $path =~ ^[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+$ ]]; then
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
old=$(sed -n 's/^module //p' go.mod)
if [ "$old" = "$path" ]; then
  echo "the module is $path already"
  exit
fi

# A package: OLD and one of the folders, as an import or in a text, but not as the end of a longer path. The module: in a go.mod,
# also when a program writes one, as the import of the root, and in housetest.
name=${old//./\\.}
package="(^|[^A-Za-z0-9_./~:@-])$name/(docker|functions|scripts|supabase|web)([^A-Za-z0-9_-]|\$)"
module="(^|[^A-Za-z0-9_-]|\\\\n)(module|require|replace) $name([^A-Za-z0-9_./-]|\$)"
imported="^(	|	module +(= )?)\"$name\"\$"
mapfile -t files < <(grep -rlIE --exclude-dir={.git,.daawo,bin,dist,node_modules} "$package|$module|$imported" .)
sed -i -E "s#$package#\1$path/\2\3#g; s#$package#\1$path/\2\3#g; s#$module#\1\2 $path\3#g; s#$imported#\1\"$path\"#" "${files[@]}"
gofmt -w $(printf '%s\n' "${files[@]}" | grep '\.go$')
echo "$old is now $path in ${#files[@]} files"

if [ -n "$check" ]; then
  go vet ./...
  if [ -n "${TEST:-}" ]; then make test; fi
fi
