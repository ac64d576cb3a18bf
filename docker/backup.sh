#!/bin/sh
# Copies the three volumes that belong together (database, the key of its vault, the files) into a new folder, each as a
# tar archive with a checksum. The stack is stopped for as long as the copy takes and started again afterwards, so that
# rows and files agree. storage-api keeps the types of files in extended attributes, which are copied, too.
# For a backup without a stop: docker compose run --rm transfer export /project/daawo.export
set -eu
cd "$(dirname "$0")/.."
target=${1:?usage: docker/backup.sh DIR}
project=${COMPOSE_PROJECT_NAME:-daawo}
image=${BACKUP_IMAGE:-debian:bookworm-slim} # any with GNU tar

for volume in db-data db-config storage-data; do
  docker volume inspect "${project}_$volume" >/dev/null || {
    echo "There is no volume ${project}_$volume: COMPOSE_PROJECT_NAME names the project." >&2
    exit 1
  }
done
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
    --create --gzip --numeric-owner --xattrs --xattrs-include='user.*' --file "/to/$volume.tar.gz" --directory /from .
done
(cd "$target" && sha256sum ./*.tar.gz > SHA256SUMS)
echo "The backup is in $target. Keep .env with it: the keys are there."
