#!/usr/bin/env bash
# Runs the contract tests against a stack of their own: directly, through a gateway with separate services, as in the compose
# form, and with two servers on one database. Those of single sign-on run against a server that has it. At the end it
# searches the logs of all servers for confidential data.
set -euo pipefail
cd "$(dirname "$0")/.."

. scripts/own-stack.sh
own_stack

contract() { npm exec --workspace web -- vitest run --config tests/stack/vitest.config.ts "$@"; }

echo "-- contract tests"
contract

echo "-- contract tests through a gateway with separate services"
end_apart() {
  [ ! -f "$data/apart/pids" ] || { xargs kill <"$data/apart/pids" 2>/dev/null || true; rm "$data/apart/pids"; }
}
trap 'end_apart; end_all' EXIT
scripts/serve-apart.sh "$data/apart" "$data/daawo/storage"
API_URL=$(cat "$data/apart/address") contract
end_apart

echo "-- contract tests with two servers"
# The servers share only the database, the files and the site's address, not the environment.
env -i PATH="$PATH" SITE_URL="$API_URL" WHATSAPP_NUMBER="$WHATSAPP_NUMBER" CONTACT_EMAIL="$CONTACT_EMAIL" FACEBOOK_URL="$FACEBOOK_URL" \
  STORAGE_FILE_BACKEND_PATH="$data/daawo/storage" LOG_LEVEL=debug \
  bin/daawo start --port 0 --data "$data/second" --database-url "$DB_URL" >"$data/second.out" 2>"$data/second.log" &
second=$!
pids+=("$second")
other=$(scripts/await-server.sh "$second" "$data/second" "$data/second.log")
go build -o "$data/splitter" ./scripts/splitter
"$data/splitter" "$API_URL" "$(eval "$other" && printf %s "$INSIDE_URL")" >"$data/splitter.out" &
splitter=$!
pids+=("$splitter")
until split=$(head -n1 "$data/splitter.out" | grep http); do sleep 0.05; done
API_URL=$split contract
stop "$splitter"
cat "$data/splitter.out"
stop "$second"

echo "-- single sign-on"
# SAML is off by default, and this product closes the sign-up.
saml_key=$(openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -outform DER 2>/dev/null | base64 -w0)
env -i PATH="$PATH" SUPABASE_AUTH_ENABLE_SIGNUP=true SUPABASE_AUTH_SAML_ENABLED=true SUPABASE_AUTH_SAML_PRIVATE_KEY="$saml_key" \
  LOG_LEVEL=debug bin/daawo start --port 0 --data "$data/sso" >"$data/sso.out" 2>"$data/sso.log" &
sso_server=$!
pids+=("$sso_server")
sso=$(scripts/await-server.sh "$sso_server" "$data/sso" "$data/sso.log")
(
  set -a
  eval "$sso"
  contract sso
)
stop "$sso_server"

echo "-- log search"
go run ./scripts/logsearch "$data/server.log" "$data/second.log" "$data"/apart/*.log \
  "$data"/apart/{rest,auth,storage,functions}.out # not gateway.out, which announces the local keys
