#!/usr/bin/env bash
# Finds the oldest Chromium that the site supports: the one in OLDEST_CHROMIUM_PATH, or version 111 for Linux on x64 from an
# npm package, which it keeps in node_modules/.cache. Prints the path. On other platforms it prints nothing, and the tests
# in that browser are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

package=@sparticuz/chromium@111.0.0
sha512=h68PUvW3tz3vZxYa/XxpHdudZ65p6zejBcBdW6qwsJ3xHR4d6myclK+E3stQd3epnPNVZAf/rDf37njG1VjNWg==

if [ -n "${OLDEST_CHROMIUM_PATH:-}" ]; then
  printf '%s\n' "$OLDEST_CHROMIUM_PATH"
  exit 0
fi
if [ "$(uname -sm)" != "Linux x86_64" ]; then
  echo "no build of Chromium 111 for $(uname -sm): set OLDEST_CHROMIUM_PATH to test in it" >&2
  exit 0
fi

cache=$PWD/node_modules/.cache/chromium-111
if [ ! -x "$cache/chromium" ]; then
  echo "Fetching Chromium 111 for the browser tests ($package) …" >&2
  rm -rf "$cache"
  mkdir -p "$cache"
  archive=$cache/$(npm pack --silent --pack-destination "$cache" "$package")
  if [ "$(openssl dgst -sha512 -binary "$archive" | base64 -w0)" != "$sha512" ]; then
    echo "$package is not the expected archive" >&2
    exit 1
  fi
  tar -xzf "$archive" -C "$cache" package/bin/chromium.br
  node -e '
    const { createReadStream, createWriteStream } = require("node:fs");
    const { pipeline } = require("node:stream");
    const [packed, file] = process.argv.slice(1);
    pipeline(createReadStream(packed), require("node:zlib").createBrotliDecompress(), createWriteStream(file, { mode: 0o755 }), (error) => {
      if (error) throw error;
    });
  ' "$cache/package/bin/chromium.br" "$cache/unpacked"
  rm -r "$archive" "$cache/package"
  mv "$cache/unpacked" "$cache/chromium"
fi
printf '%s\n' "$cache/chromium"
