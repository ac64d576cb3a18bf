#!/usr/bin/env bash
# Prints the .env of a public installation in the compose form, with new secrets and keys. Give its address, the recipient of
# notifications and the mail server as variables, or fill in the lines that are left empty. Without an .env, docker compose up
# serves this machine only.
#
#   SITE_URL=https://example.org ADMIN_EMAIL=… SMTP_HOST=… SMTP_ADMIN_EMAIL=… scripts/generate-env.sh > .env && chmod 600 .env
set -euo pipefail
cd "$(dirname "$0")/.."

# The program generates the keys: the built binary, its source or its container.
keys() {
  if [ -x bin/daawo ]; then
    bin/daawo keys generate
  elif command -v go >/dev/null; then
    go run ./supabase keys generate
  elif command -v docker >/dev/null; then
    docker run --rm "$(docker build -q -f docker/Dockerfile --target daawo .)" keys generate
  else
    echo "bin/daawo, Go or Docker is needed to generate the keys" >&2
    return 1
  fi
}

random() { od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'; } # 2 × $1 hexadecimal digits

made=$(keys)
dashboard=$(random 12)
cat <<TXT
# Public address of the site and its API, without a trailing slash, and Studio's address as an administrator opens it.
SITE_URL=${SITE_URL:-}
STUDIO_URL=${STUDIO_URL:-}
# The address of the administrators' application, on a host name of its own.
DESK_URL=${DESK_URL:-http://localhost:54325}
DESK_HOST=$(sed -E 's|^[a-z]+://([^:/]+).*|\1|' <<<"${DESK_URL:-http://localhost:54325}")

# The recipient of notifications about new reports, and the mail server. SMTP_TLS is starttls, implicit or off; if it is empty,
# port 465 uses implicit and the others starttls.
ADMIN_EMAIL=${ADMIN_EMAIL:-}
SMTP_HOST=${SMTP_HOST:-}
SMTP_PORT=${SMTP_PORT:-587}
SMTP_TLS=${SMTP_TLS:-}
SMTP_USER=${SMTP_USER:-}
SMTP_PASS=${SMTP_PASS:-}
SMTP_ADMIN_EMAIL=${SMTP_ADMIN_EMAIL:-}
SMTP_SENDER_NAME=${SMTP_SENDER_NAME:-Daawo}
# No inbox for development, and no link to it.
INBOX_SCALE=0
INBOX_URL=

# Studio's login.
DASHBOARD_USERNAME=supabase
DASHBOARD_PASSWORD=$dashboard

# Secrets. 'daawo keys rotate --env-file .env' replaces the keys.
POSTGRES_PASSWORD=$(random 16)
$made
PG_META_CRYPTO_KEY=$(random 16)
S3_PROTOCOL_ACCESS_KEY_ID=$(random 16)
S3_PROTOCOL_ACCESS_KEY_SECRET=$(random 32)
REALTIME_ENC_KEY=$(random 8)
REALTIME_SECRET_KEY_BASE=$(random 32)
VAULT_ENC_KEY=$(random 16)
TXT
echo "Studio's first login: user supabase, password $dashboard" >&2
