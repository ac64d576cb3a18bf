#!/usr/bin/env bash
# Starts every service of a running stack again as a separate server, with the variables of docker/compose.yaml, and a gateway
# in front of them: the compose form with our engines instead of the images. The log level is debug, because the logs are
# searched for confidential data. It needs the variables of `daawo status -o env` and writes its pids and the gateway's address
# to DIR. With DESK the gateway serves the desk, Realtime is a service too, and DIR/env has all addresses.
#   scripts/serve-apart.sh DIR FILES [DESK]
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$1 files=$2 desk=${3:-}
mkdir -p "$dir"

port() { node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })'; }
rest=$(port) auth=$(port) storage=$(port) functions=$(port)
public=$API_URL flags="--port 0"
staff=() mail=() more=()
if [ "$desk" ]; then
  gateway=$(port) realtime=$(port) smtp=$(port) inbox=$(port) deskPort=$(port)
  public=http://127.0.0.1:$gateway flags="--port $gateway"
  staff=(GOTRUE_PASSWORD_MIN_LENGTH=12 GOTRUE_URI_ALLOW_LIST="http://127.0.0.1:$deskPort,http://127.0.0.1:$deskPort/**" GOTRUE_SESSIONS_TIMEBOX=12h
    GOTRUE_MFA_TOTP_ENROLL_ENABLED=true GOTRUE_MFA_TOTP_VERIFY_ENABLED=true GOTRUE_MFA_WEB_AUTHN_ENROLL_ENABLED=true
    GOTRUE_MFA_WEB_AUTHN_VERIFY_ENABLED=true GOTRUE_WEBAUTHN_RP_ID=localhost
    GOTRUE_WEBAUTHN_RP_DISPLAY_NAME=localhost GOTRUE_WEBAUTHN_RP_ORIGINS="http://localhost:$deskPort" GOTRUE_SMTP_HOST=127.0.0.1 GOTRUE_SMTP_PORT="$smtp" GOTRUE_SMTP_ADMIN_EMAIL=daawo@localhost.localdomain
    GOTRUE_RATE_LIMIT_EMAIL_SENT=1000 GOTRUE_SMTP_MAX_FREQUENCY=1s)
  mail=(DESK_URL="http://127.0.0.1:$deskPort" SUPABASE_LOCAL_SMTP_SMTP_PORT="$smtp")
  more=(DESK_URL="http://127.0.0.1:$deskPort" DESK_PORT="$deskPort" REALTIME_URL="http://127.0.0.1:$realtime")
fi
as() { echo "postgres://$1:postgres@${DB_URL#*@}"; } # all roles of a local stack have one password

# serve "SERVICE FLAGS" NAME=VALUE…: starts a service with only these variables.
serve() {
  local -a words
  read -ra words <<<"$1"
  shift
  # The standard output announces the addresses and the well-known local keys, as `daawo start` does; the log holds neither.
  env -i PATH="$PATH" HOME="$dir" "$@" bin/daawo serve "${words[@]}" >"$dir/${words[0]}.out" 2>"$dir/${words[0]}.log" &
  echo $! >>"$dir/pids"
}

serve rest PGRST_SERVER_HOST=127.0.0.1 PGRST_SERVER_PORT="$rest" PGRST_DB_URI="$(as authenticator)" \
  PGRST_DB_SCHEMAS=public,graphql_public PGRST_DB_EXTRA_SEARCH_PATH=public,extensions PGRST_DB_ANON_ROLE=anon \
  PGRST_DB_MAX_ROWS=1000 PGRST_JWT_SECRET="$JWT_SECRET" PGRST_LOG_LEVEL=debug
serve auth GOTRUE_API_HOST=127.0.0.1 GOTRUE_API_PORT="$auth" API_EXTERNAL_URL="$public/auth/v1" GOTRUE_SITE_URL="$public" \
  GOTRUE_DB_DRIVER=postgres GOTRUE_DB_DATABASE_URL="$(as supabase_auth_admin)" GOTRUE_JWT_SECRET="$JWT_SECRET" \
  GOTRUE_JWT_AUD=authenticated GOTRUE_JWT_ADMIN_ROLES=service_role GOTRUE_JWT_DEFAULT_GROUP_NAME=authenticated \
  GOTRUE_DB_MAX_POOL_SIZE=10 GOTRUE_DB_MAX_IDLE_POOL_SIZE=10 GOTRUE_JWT_EXP=3600 GOTRUE_EXTERNAL_EMAIL_ENABLED=true GOTRUE_DISABLE_SIGNUP=true \
  GOTRUE_LOG_LEVEL=debug ${staff[@]+"${staff[@]}"}
serve storage SERVER_HOST=127.0.0.1 SERVER_PORT="$storage" ANON_KEY="$ANON_KEY" SERVICE_KEY="$SERVICE_ROLE_KEY" \
  AUTH_JWT_SECRET="$JWT_SECRET" DATABASE_URL="$(as supabase_storage_admin)" STORAGE_PUBLIC_URL="$public" \
  REQUEST_ALLOW_X_FORWARDED_PATH=true FILE_SIZE_LIMIT=52428800 STORAGE_BACKEND=file FILE_STORAGE_BACKEND_PATH="$files" \
  GLOBAL_S3_BUCKET=daawo TENANT_ID=daawo REGION=local LOG_LEVEL=debug \
  S3_PROTOCOL_ACCESS_KEY_ID=id S3_PROTOCOL_ACCESS_KEY_SECRET=secret

keys=(JWT_SECRET="$JWT_SECRET" ANON_KEY="$ANON_KEY" SERVICE_ROLE_KEY="$SERVICE_ROLE_KEY"
  SUPABASE_PUBLISHABLE_KEY="$PUBLISHABLE_KEY" SUPABASE_SECRET_KEY="$SECRET_KEY" LOG_LEVEL=debug)
if [ "$desk" ]; then
  serve realtime PORT="$realtime" DB_HOST=127.0.0.1 DB_PORT="$(node -p 'new URL(process.argv[1]).port' "$DB_URL")" DB_USER=postgres \
    DB_PASSWORD=postgres DB_NAME=postgres API_JWT_SECRET="$JWT_SECRET" METRICS_JWT_SECRET="$JWT_SECRET" SECRET_KEY_BASE="$JWT_SECRET" LOG_LEVEL=debug
fi
serve "functions --inbox-port ${inbox:-0}" "${keys[@]}" PORT="$functions" DATABASE_URL="$(as postgres)" SUPABASE_URL="$public" ${mail[@]+"${mail[@]}"}
serve "gateway $flags --data $dir/gateway" "${keys[@]}" AUTH_URL="http://127.0.0.1:$auth" REST_URL="http://127.0.0.1:$rest" \
  STORAGE_URL="http://127.0.0.1:$storage" FUNCTIONS_URL="http://127.0.0.1:$functions" ${more[@]+"${more[@]}"}

for _ in $(seq 300); do
  if front=$(grep -oE 'http://[0-9.]+:[0-9]+' "$dir/gateway.out" | head -n1) && bin/daawo healthcheck "$front/readyz" 2>/dev/null; then
    echo "$front" >"$dir/address"
    if [ "$desk" ]; then
      printf '%s\n' API_URL="$front" DESK_URL="http://127.0.0.1:$deskPort" MAILPIT_URL="http://127.0.0.1:$inbox" >"$dir/env"
    fi
    exit 0
  fi
  sleep 0.1
done
tail -n 5 "$dir"/*.out "$dir"/*.log >&2
exit 1
