#!/usr/bin/env bash
# Checks the stack on Supabase's Postgres: the archive ARCHIVE, or the published one. It runs the installed daawo, and writes to
# /srv/postgres-check. postgres-check.sh runs it in a bare Debian 13.
#   ARCHIVE=FILE scripts/postgres-check-inside.sh
set -euo pipefail

work=/srv/postgres-check
rm -rf "$work"
mkdir -p "$work/project"
cd "$work/project"
step() { echo "== $*"; }
sql() { psql_at "$(daawo status --data "$work/data" -o env | sed -n 's/^DB_URL="\(.*\)"/\1/p')" "$1"; }
psql_at() { "$programs/psql" -X -qtA -v ON_ERROR_STOP=1 -d "$1" -c "$2"; }
begin() { daawo start --detach --port 0 --data "$work/data" "$@" >"$work/start.log" 2>&1 || { cat "$work/start.log"; exit 1; }; }
finish() { daawo stop --data "$work/data" >/dev/null; }
same() { [ "$2" = "$3" ] || { echo "$1: \"$2\", want \"$3\"" >&2; exit 1; }; }

daawo init >/dev/null
config=$(find . -name config.toml | head -n 1)
step add
daawo postgres add ${ARCHIVE:+--from "$ARCHIVE"} --data "$work/data"
programs=$(daawo postgres status --data "$work/data" | sed -n 's/^ *folder  *\([^,]*\),.*/\1/p')/bin

cat >"$(dirname "$config")/migrations/20260101000001_search.sql" <<'SQL'
create extension if not exists vector with schema extensions;
create extension if not exists pg_cron with schema pg_catalog;
create table public.items (id int primary key, embedding extensions.vector(3));
insert into public.items select i, array[i, 1, 0]::float4[]::extensions.vector from generate_series(1, 1000) i;
create index on public.items using hnsw (embedding extensions.vector_l2_ops);
alter table public.items enable row level security;
create policy readable on public.items for select using (true);
create table public.ticks (at timestamptz default now(), by text default current_user);
select cron.schedule('tick', '1 second', 'insert into public.ticks default values');
select vault.create_secret('hush', 'token');
SQL
ticks() { for _ in $(seq 60); do [ "$(sql "select count(*) > $1 from ticks where by = 'postgres'")" = t ] && return; sleep 1; done; echo "no job ran" >&2; exit 1; }
content() { sql "select (select count(*) from items) || '|' || (select count(*) from pg_policies where tablename = 'items') || '|' || (select decrypted_secret from vault.decrypted_secrets where name = 'token')"; }

step "start, embedded"
begin
ticks 0
same content "$(content)" '1000|1|hush'
sql 'select version()'
has_postgis=$(sql "select count(*) from pg_available_extensions where name = 'postgis'") # if the build compiled it
finish

step "the other distribution refuses the folder"
sed -i '/^\[db\]/a distribution = "supabase"' "$config"
grep -q '^distribution' "$config" || printf '\n[db]\ndistribution = "supabase"\n' >>"$config"
if daawo start --port 0 --data "$work/data" >"$work/refused.log" 2>&1; then echo "it started" >&2; exit 1; fi
grep -q 'daawo postgres switch' "$work/refused.log"

step "switch to supabase"
daawo postgres switch --data "$work/data"
begin
sql 'select version()'
same content "$(content)" '1000|1|hush'
before=$(sql 'select count(*) from ticks')
ticks "$before"
sql "create extension postgis with schema extensions; create table places (at extensions.geography(point)); insert into places values ('point(45 2)')" || exit 1
same nearest "$(sql "select id from items order by embedding operator(extensions.<->) '[7,1,0]' limit 1")" 7
daawo doctor --data "$work/data" | grep Postgres

step "backup and restore"
daawo backup --to "$work/store" --data "$work/data"
finish
mv "$work/data" "$work/lost"
daawo restore --from "$work/store" --data "$work/data"
begin
same content "$(content)" '1000|1|hush'
same places "$(sql 'select count(*) from places')" 1
finish

distribution() { sed -i "s/^distribution = .*/distribution = \"$1\"/" "$config"; }
if [ "$has_postgis" = 0 ]; then
  step "the embedded Postgres has no PostGIS"
  distribution embedded
  if daawo postgres switch --data "$work/data" >"$work/refused.log" 2>&1; then echo "it moved" >&2; exit 1; fi
  grep -q 'stays as it was' "$work/refused.log" && grep -q 'extension "postgis" is not available' "$work/refused.log"
  distribution supabase
fi
begin
same content "$(content)" '1000|1|hush'
same places "$(sql 'select count(*) from places')" 1
sql 'drop table places; drop extension postgis'
finish

step "switch back"
distribution embedded
daawo postgres switch --data "$work/data"
begin
sql 'select version()'
same content "$(content)" '1000|1|hush'
before=$(sql 'select count(*) from ticks')
ticks "$before"
finish
ls "$work/data"
echo "postgres-check: all as expected"
