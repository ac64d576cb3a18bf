#!/usr/bin/env bash
# Installs the packages of the cluster drill. The drill needs Linux, root for network namespaces, and Debian's packages of
# etcd, Patroni, Postgres 15 and HAProxy. Without apt it lists the packages.
set -euo pipefail

packages=()
need() { [ -e "$1" ] || packages+=("$2"); }
need /sbin/ip iproute2
need /usr/bin/setpriv util-linux
need /usr/bin/etcd etcd-server
need /usr/bin/patroni patroni
need /usr/lib/python3/dist-packages/etcd python3-etcd
need /usr/lib/python3/dist-packages/psycopg2 python3-psycopg2
need /usr/lib/postgresql/15/bin/postgres postgresql-15
need /usr/sbin/haproxy haproxy

if [ "$(id -u)" != 0 ]; then
  echo "the cluster drill creates network namespaces: run it as root" >&2
  exit 1
fi
if [ "${#packages[@]}" -gt 0 ]; then
  if ! command -v apt-get >/dev/null; then
    echo "missing: ${packages[*]} (Debian's names)" >&2
    exit 1
  fi
  echo "installing ${packages[*]}"
  # Do not start the packages' services, which would use ports and memory.
  if [ ! -e /usr/sbin/policy-rc.d ]; then
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
    printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
    chmod +x /usr/sbin/policy-rc.d
  fi
  apt-get update -qq -o DPkg::Lock::Timeout=300
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o DPkg::Lock::Timeout=300 --no-install-recommends "${packages[@]}"
fi
