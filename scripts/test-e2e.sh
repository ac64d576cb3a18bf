#!/usr/bin/env bash
# Starts a stack on free ports with an empty data folder, and runs the contract tests and the browser tests against it. The
# contract tests run a second time through a gateway with separate services, as in the compose form, and a third time with
# two servers on one database. At the end it searches the logs of all servers for confidential data.
# Arguments go to Playwright.
set -euo pipefail
cd "$(dirname "$0")/.."

HEADLESS_CHROMIUM_PATH=$(scripts/ensure-headless-chromium.sh)
CHROMIUM_PATH=$(scripts/ensure-chromium.sh)
FIREFOX_PATH=$(scripts/ensure-firefox.sh)
OLDEST_CHROMIUM_PATH=$(scripts/ensure-oldest-chromium.sh)
export HEADLESS_CHROMIUM_PATH CHROMIUM_PATH FIREFOX_PATH OLDEST_CHROMIUM_PATH

# Contact channels of an invented organization.
export WHATSAPP_NUMBER=252610000000 CONTACT_EMAIL=support@example.org FACEBOOK_URL=https://www.facebook.com/example

data=$(mktemp -d)
chmod 755 "$data" # Postgres runs as another user when we are root
# tests/e2e/auth needs the OAuth server, which is off by default.
SUPABASE_AUTH_OAUTH_SERVER_ENABLED=true LOG_LEVEL=debug bin/daawo start --port 0 --data "$data/daawo" >"$data/out.log" 2>"$data/server.log" &
server=$!
second= splitter=
end_apart() {
  [ ! -f "$data/apart/pids" ] || { xargs kill <"$data/apart/pids" 2>/dev/null || true; rm "$data/apart/pids"; }
}
cleanup() {
  end_apart
  for pid in $splitter $second $server; do
    kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true
  done
  rm -rf "$data"
}
trap cleanup EXIT

status=$(scripts/await-server.sh "$server" "$data/daawo" "$data/server.log")
set -a
eval "$status"
set +a

contract() { npm exec --workspace web -- vitest run --config tests/stack/vitest.config.ts "$@"; }

echo "-- contract tests"
contract

echo "-- contract tests through a gateway with separate services"
scripts/serve-apart.sh "$data/apart" "$data/daawo/storage"
API_URL=$(cat "$data/apart/address") contract
end_apart

echo "-- contract tests with two servers"
# The servers share only the database, the files and the site's address, not the environment.
env -i PATH="$PATH" SITE_URL="$API_URL" WHATSAPP_NUMBER="$WHATSAPP_NUMBER" CONTACT_EMAIL="$CONTACT_EMAIL" FACEBOOK_URL="$FACEBOOK_URL" \
  STORAGE_FILE_BACKEND_PATH="$data/daawo/storage" LOG_LEVEL=debug \
  bin/daawo start --port 0 --data "$data/second" --database-url "$DB_URL" >"$data/second.out" 2>"$data/second.log" &
second=$!
other=$(scripts/await-server.sh "$second" "$data/second" "$data/second.log")
go build -o "$data/splitter" ./scripts/splitter
"$data/splitter" "$API_URL" "$(eval "$other" && printf %s "$INSIDE_URL")" >"$data/splitter.out" &
splitter=$!
until split=$(head -n1 "$data/splitter.out" | grep http); do sleep 0.05; done
API_URL=$split contract
kill "$splitter" && wait "$splitter"
splitter=
cat "$data/splitter.out"
kill "$second" && wait "$second"
second=

echo "-- single sign-on"
# SAML is off by default, and this product closes the sign-up.
saml_key=$(openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -outform DER 2>/dev/null | base64 -w0)
env -i PATH="$PATH" SUPABASE_AUTH_ENABLE_SIGNUP=true SUPABASE_AUTH_SAML_ENABLED=true SUPABASE_AUTH_SAML_PRIVATE_KEY="$saml_key" \
  LOG_LEVEL=debug bin/daawo start --port 0 --data "$data/sso" >"$data/sso.out" 2>"$data/sso.log" &
second=$!
sso=$(scripts/await-server.sh "$second" "$data/sso" "$data/sso.log")
(
  set -a
  eval "$sso"
  contract sso
)
kill "$second" && wait "$second"
second=

echo "-- browser"
npm run --silent test:e2e --workspace web -- "$@"

if [ $# = 0 ]; then # a part of the tests logs too little
  echo "-- log search"
  go run ./scripts/logsearch "$data/server.log" "$data/second.log" "$data"/apart/*.log \
    "$data"/apart/{rest,auth,storage,functions}.out # not gateway.out, which announces the local keys
fi
