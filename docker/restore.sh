#!/bin/sh
# Restores a backup of docker/backup.sh into an empty project. It never overwrites existing volumes.
set -eu
source=$(cd "${1:?usage: docker/restore.sh DIR}" && pwd)
cd "$(dirname "$0")/.."
project=${COMPOSE_PROJECT_NAME:-daawo}
image=${BACKUP_IMAGE:-debian:bookworm-slim} # any image with GNU tar

(cd "$source" && sha256sum --check --quiet SHA256SUMS)
for volume in db-data db-config storage-data; do
  if docker volume inspect "${project}_$volume" >/dev/null 2>&1; then
    echo "Volume ${project}_$volume exists: set COMPOSE_PROJECT_NAME to restore into another project," >&2
    echo "or remove the volumes that the backup replaces: docker compose down &&" >&2
    echo "docker volume rm ${project}_db-data ${project}_db-config ${project}_storage-data" >&2
    exit 1
  fi
done
for volume in db-data db-config storage-data; do
  echo "restoring $volume …"
  docker volume create --label "com.docker.compose.project=$project" --label "com.docker.compose.volume=$volume" "${project}_$volume" >/dev/null
  docker run --rm --user 0 --network none --entrypoint tar \
    -v "${project}_$volume:/to" -v "$source:/from:ro" "$image" \
    --extract --gzip --numeric-owner --preserve-permissions --xattrs --xattrs-include='user.*' --file "/from/$volume.tar.gz" --directory /to
done
echo "Restored. Start it with the .env of the backup: docker compose up -d"
