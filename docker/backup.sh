#!/bin/sh
# Copies the three volumes that belong together (database, the key of its vault, the files) into a new folder, each as a
# tar archive with a checksum. The stack is stopped for as long as the copy takes and started again afterwards, so that
# rows and files agree. For a backup without a stop: `daawo export`.
set -eu
cd "$(dirname "$0")/.."
target=${1:?usage: docker/backup.sh DIR}
project=${COMPOSE_PROJECT_NAME:-daawo}
image=supabase/postgres:17.6.1.136

mkdir -p "$target"
target=$(cd "$target" && pwd)
if [ -n "$(ls -A "$target")" ]; then
  echo "$target is not empty: give every backup a folder of its own." >&2
  exit 1
fi
chmod 0700 "$target"

trap 'docker compose start' EXIT
docker compose stop
for volume in db-data db-config storage-data; do
  echo "copying $volume …"
  docker run --rm --user 0 --network none --entrypoint tar \
    -v "${project}_$volume:/from:ro" -v "$target:/to" "$image" \
    --create --gzip --numeric-owner --file "/to/$volume.tar.gz" --directory /from .
done
(cd "$target" && sha256sum ./*.tar.gz > SHA256SUMS)
echo "The backup is in $target. Keep .env with it: the keys are there."
