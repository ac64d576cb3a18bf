#!/bin/sh
# Upgrades a running project to the images of this release, after git pull. First it copies the volumes into a new folder, which
# is the way back. A new major version of Postgres cannot read the old volume: then nothing changes, and the content must be
# moved with an export.
set -eu
cd "$(dirname "$0")/.."
target=${1:?usage: docker/upgrade.sh BACKUP-DIR}
project=${COMPOSE_PROJECT_NAME:-daawo}
image=${BACKUP_IMAGE:-debian:bookworm-slim} # any image with cat

old=$(docker run --rm --user 0 --network none --entrypoint cat -v "${project}_db-data:/data:ro" "$image" /data/PG_VERSION)
new=$(sed -n 's|^ *image: supabase/postgres:\([0-9]*\)\..*|\1|p' docker/compose.yaml | head -n 1)
if [ "$old" != "$new" ]; then
  echo "The data is of Postgres $old and this release runs Postgres $new. With the release before:" >&2
  echo "docker compose run --rm transfer export /project/daawo.export" >&2
  echo "Then with this one, in a new project: docker compose run --rm transfer import /project/daawo.export" >&2
  exit 1
fi

docker/backup.sh "$target"
trap 'echo "The upgrade failed. The way back is in docs/docker.md, with the backup in $target." >&2' EXIT
if docker compose config --images | grep -q '^localhost/'; then # ours is not published
  docker compose pull --ignore-buildable
  docker compose build --pull
else
  docker compose pull
fi
docker compose up --detach --wait
trap - EXIT
echo "Every service is healthy. Keep $target until the site has been used for some days."
