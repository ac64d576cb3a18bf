#!/usr/bin/env bash
# The first hour of a new user in bare root file systems of Debian: TestNewcomer follows README, tour, functions,
# bring-your-project and library as a user without rights. Prints the time of each step and stops at the first failure.
#   scripts/newcomer.sh [RELEASE…]        default: bookworm trixie
# Debian's packages come from the mirror of this machine's apt. Go and Node are this machine's, as Debian 12 has older ones.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
  echo "make newcomer needs root and debootstrap (apt-get install debootstrap)" >&2
  exit 1
fi
# shellcheck disable=SC2016 # apt replaces the name
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Label: Debian' | head -n 1)
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
chmod 755 "$work"

# prepare RELEASE ROOT: a bare root file system with the packages that the docs name, a user and the program's archive.
prepare() {
  local release=$1 root=$2 home=$2/home/reader
  debootstrap --variant=minbase --include=ca-certificates,curl,make,sudo "$release" "$root" "$mirror" >"$work/debootstrap.log" ||
    { tail "$work/debootstrap.log" >&2; return 1; }
  chroot "$root" useradd --create-home --shell /bin/bash reader
  echo 'reader ALL=(ALL) NOPASSWD: ALL' >"$root/etc/sudoers.d/reader"
  cp /etc/resolv.conf /etc/hosts "$root/etc/"
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" # the network's, if it has its own
  mkdir -p "$root/usr/local/go" "$root/usr/local/lib/node_modules"
  cp "$(readlink -f "$(command -v node)")" "$root/usr/local/bin/node"
  cp -r "$(npm root --global)/npm" "$root/usr/local/lib/node_modules/"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  ln -s ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"

  mkdir "$work/daawo-dev"
  cp bin/daawo "$work/daawo-dev/"
  tar -czf "$home/daawo-dev-linux-amd64.tar.gz" -C "$work" daawo-dev
  rm -r "$work/daawo-dev"
  mkdir "$home/daawo" # a clone
  git ls-files -z --cached | xargs -0 cp --parents --target-directory "$home/daawo"
  chroot "$root" chown -R reader:reader /home/reader
}

go test -c -o "$work/newcomer.test" ./supabase
[ $# -gt 0 ] || set -- bookworm trixie
for release; do
  start=$SECONDS
  prepare "$release" "$work/$release"
  echo "Debian $release: root file system made: $((SECONDS - start)) s"
  # The mounts and the processes end with the namespaces.
  ROOT=$work/$release GOROOT=$(go env GOROOT) RUN=$work/newcomer.test NEWCOMER_ROOT=$work/$release \
    unshare --mount --pid --fork --kill-child bash -euo pipefail -c '
      mount -t proc proc "$ROOT/proc"
      mount --rbind /dev "$ROOT/dev"
      mount --bind -o ro "$GOROOT" "$ROOT/usr/local/go"
      cd supabase
      "$RUN" -test.run "^TestNewcomer$" -test.v -test.timeout 90m'
  rm -rf --one-file-system "${work:?}/$release"
done
