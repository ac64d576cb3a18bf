#!/usr/bin/env bash
# Checks the stack on an archive of Postgres as Supabase publishes it, in a bare Debian 13: add, start, a project with pgvector,
# PostGIS and pg_cron, backup, restore, and the move of a data folder to it and back. The archive is a stand-in of the same layout,
# made of Debian's packages.
#   scripts/postgres-check.sh        root, debootstrap, network; ROOT=DIR keeps the root file system there for the next run
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo "make postgres-check needs root, for debootstrap and chroot" >&2; exit 1; }

root=${ROOT:-$(mktemp -d)}
mounted=()
clean() {
  for at in "${mounted[@]}"; do umount "$at"; done
  [ -n "${ROOT:-}" ] || rm -rf --one-file-system "$root"
}
trap clean EXIT
chmod 755 "$root"
in_root() { chroot "$root" env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }

if [ ! -f "$root/etc/debian_version" ]; then
  debootstrap --variant=minbase --include=ca-certificates,curl trixie "$root" >"$root.log" 2>&1 || { tail "$root.log" >&2; exit 1; }
  rm -f "$root.log"
fi
for at in proc dev/shm; do
  mkdir -p "$root/$at"
  if mountpoint -q "$root/$at"; then continue; fi
  mount -t "$([ "$at" = proc ] && echo proc || echo tmpfs)" none "$root/$at"
  mounted+=("$root/$at")
done
chmod 1777 "$root/dev/shm"
in_root sh -c 'id daawo >/dev/null 2>&1 || useradd --system daawo'

mkdir -p "$root/etc/postgresql-common"
echo 'create_main_cluster = false' >"$root/etc/postgresql-common/createcluster.conf"
in_root apt-get update -qq
in_root apt-get install -y -qq --no-install-recommends postgresql-17 postgresql-17-pgvector postgresql-17-postgis-3 \
  postgresql-17-cron zstd >/dev/null
rm -rf "$root/standin"
mkdir -p "$root/standin/bin"
in_root cp -rL /usr/share/postgresql/17 /standin/share # its links are absolute
cp -r "$root/usr/lib/postgresql/17/lib" "$root/standin/lib"
for program in postgres initdb pg_ctl psql pg_dump pg_dumpall pg_restore; do
  # Debian's programs look for their data in another branch of the tree. In the archive share is beside bin. The new path covers
  # the beginning of the next one, the folder of service files.
  perl -0777 -pe 's{/usr/share/postgresql/17\0/etc}{/usr/lib/postgresql/17/share\0}g or die' \
    "$root/usr/lib/postgresql/17/bin/$program" >"$root/standin/bin/.$program-wrapped"
  cat >"$root/standin/bin/$program" <<'WRAPPER'
#!/usr/bin/env bash
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
export NIX_PGLIBDIR="$here/../lib" LD_LIBRARY_PATH="$here/../lib"
exec "$here/.$(basename "$0")-wrapped" "$@"
WRAPPER
  chmod 755 "$root/standin/bin/$program" "$root/standin/bin/.$program-wrapped"
done
in_root tar -C /standin --zstd -cf /root/postgres.tar.zst .

cp "${DAAWO:-bin/daawo}" "$root/usr/local/bin/daawo"
cp scripts/postgres-check-inside.sh "$root/root/inside.sh"
in_root env ARCHIVE=/root/postgres.tar.zst bash /root/inside.sh
