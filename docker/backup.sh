#!/bin/sh
# Copies the volumes of the database, of its vault key and of the files into a new folder, each as a tar archive with a
# checksum. It stops the stack during the copy, so that rows and files match. storage-api keeps content types in extended
# attributes, so it copies those too.
# For a backup without a stop: docker compose run --rm transfer export /project/daawo.export
set -eu
cd "$(dirname "$0")/.."
target=${1:?usage: docker/backup.sh DIR}
project=${COMPOSE_PROJECT_NAME:-daawo}
image=${BACKUP_IMAGE:-debian:bookworm-slim} # any image with GNU tar

for volume in db-data db-config storage-data; do
  docker volume inspect "${project}_$volume" >/dev/null || {
    echo "Volume ${project}_$volume does not exist: set COMPOSE_PROJECT_NAME to the project's name." >&2
    exit 1
  }
done
mkdir -p "$target"
target=$(cd "$target" && pwd)
if [ -n "$(ls -A "$target")" ]; then
  echo "$target is not empty: use a new folder for every backup." >&2
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
echo "The backup is in $target. Keep .env with it, because .env holds the keys."
