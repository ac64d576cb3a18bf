#!/usr/bin/env bash
# Prints a .env for the compose form, with new secrets and keys. The addresses are those of this machine, and mail goes to the
# development inbox. Change these lines before others can reach the site.
#
#   scripts/generate-env.sh > .env && chmod 600 .env
set -euo pipefail
cd "$(dirname "$0")/.."

# The program generates the keys: the built binary, its source or its container.
keys() {
  if [ -x bin/daawo ]; then
    bin/daawo keys generate
  elif command -v go >/dev/null; then
    go run ./supabase keys generate
  elif command -v docker >/dev/null; then
    docker build -q -f docker/Dockerfile --target daawo -t daawo:latest . >&2
    docker run --rm daawo:latest keys generate
  else
    echo "bin/daawo, Go or Docker is needed to generate the keys" >&2
    return 1
  fi
}

random() { od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'; } # 2 × $1 hexadecimal digits

made=$(keys)
dashboard=$(random 12)
cat <<TXT
# Public address of the site and its API, without a trailing slash.
SITE_URL=${SITE_URL:-http://localhost:54321}

# The recipient of notifications about new reports, and the mail server. These lines use the inbox of
# 'docker compose --profile development up', http://localhost:54324.
ADMIN_EMAIL=${ADMIN_EMAIL:-admin@example.org}
SMTP_HOST=${SMTP_HOST:-mailpit}
SMTP_PORT=${SMTP_PORT:-1025}
SMTP_USER=${SMTP_USER:-}
SMTP_PASS=${SMTP_PASS:-}
SMTP_ADMIN_EMAIL=${SMTP_ADMIN_EMAIL:-site@example.org}
SMTP_SENDER_NAME=${SMTP_SENDER_NAME:-Daawo}

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
TXT
echo "Studio's first login: user supabase, password $dashboard" >&2
