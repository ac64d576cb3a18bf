package schemadiff_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"daawo/supabase/internal/database/schemadiff"
	"daawo/supabase/internal/database/testdb"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

// partitioned has a table with one partition for each of three years, and one with partitions of
// partitions.
const partitioned = `
	create schema shop;
	create table shop.customers (id bigint primary key);
	create table shop.events (id bigint generated always as identity, day date not null default '2026-01-01', what text check (what <> ''),
		customer bigint references shop.customers, upper_what text generated always as (upper(what)) stored, primary key (id, day)) partition by range (day);
	create index on shop.events (what);
	create function shop.touch() returns trigger language plpgsql as 'begin return new; end';
	create trigger touched before update on shop.events for each row execute function shop.touch();
	create table shop.events_2025 partition of shop.events for values from ('2025-01-01') to ('2026-01-01');
	create table shop.events_2026 partition of shop.events for values from ('2026-01-01') to ('2027-01-01');
	create table shop.events_rest partition of shop.events default;
	create table shop.places (region text not null, town text not null) partition by list (region);
	create table shop.places_bay partition of shop.places for values in ('bay') partition by list (town);
	create table shop.places_bay_baidoa partition of shop.places_bay for values in ('baidoa');
	insert into shop.events (what) values ('kept');`

// TestDiffOfPartitions checks that the statements of a diff attach and detach partitions, with what
// they have from their table, and keep their rows.
func TestDiffOfPartitions(t *testing.T) {
	alterations := map[string]string{
		"detached":         `alter table shop.events detach partition shop.events_2026`,
		"default detached": `alter table shop.events detach partition shop.events_rest`,
		"all detached": `alter table shop.events detach partition shop.events_2025;
			alter table shop.events detach partition shop.events_2026; alter table shop.events detach partition shop.events_rest`,
		"with partitions detached": `alter table shop.places detach partition shop.places_bay`,
		"partition of a partition": `alter table shop.places_bay detach partition shop.places_bay_baidoa`,
		"detached and changed": `alter table shop.events detach partition shop.events_2026;
			alter table shop.events_2026 drop column customer, drop column upper_what,
			add column note text, alter column what type varchar(20);
			drop index shop.events_2026_what_idx; create index on shop.events_2026 (note)`,
		"detached, and the table changed": `alter table shop.events detach partition shop.events_2026;
			alter table shop.events add column note text not null default ''; create index on shop.events (note)`,
		"other bounds": `alter table shop.events detach partition shop.events_2025; alter table shop.events detach partition shop.events_2026;
			alter table shop.events attach partition shop.events_2025 for values from ('2024-01-01') to ('2025-07-01');
			alter table shop.events attach partition shop.events_2026 for values from ('2025-07-01') to ('2027-01-01')`,
		"another table": `create table shop.old_events (like shop.events including all) partition by range (day); alter table shop.events detach partition shop.events_2025;
			alter table shop.old_events attach partition shop.events_2025 for values from ('2025-01-01') to ('2026-01-01')`,
		"without its table": `alter table shop.events detach partition shop.events_2026; drop table shop.events`,
	}
	for _, name := range slices.Sorted(maps.Keys(alterations)) {
		t.Run(name, func(t *testing.T) {
			conn := testdb.New(t).Conn("postgres")
			run(t, conn, partitioned)
			original := read(t, conn)
			run(t, conn, alterations[name])
			altered := read(t, conn)
			now := altered
			for _, wanted := range [][]schemadiff.Object{original, altered, original} {
				now = converge(t, conn, now, wanted)
				var what string
				if err := conn.QueryRow(t.Context(), `select what from shop.events_2026`,
					pgx.QueryExecModeSimpleProtocol).Scan(&what); err != nil || what != "kept" {
					t.Fatalf("the row is %q: %v", what, err)
				}
			}
		})
	}
}

// TestDetachedPartition checks the statements for a partition that is only detached.
func TestDetachedPartition(t *testing.T) {
	conn := testdb.New(t).Conn("postgres")
	run(t, conn, partitioned+
		`drop trigger touched on shop.events; alter table shop.events alter column id drop identity`)
	before := read(t, conn)
	run(t, conn, `alter table shop.events detach partition shop.events_2026`)
	after := read(t, conn)
	for _, c := range []struct {
		from, to []schemadiff.Object
		want     string
	}{
		{before, after, "alter table shop.events detach partition shop.events_2026;"},
		{after, before, "alter table shop.events attach partition shop.events_2026 FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');"},
	} {
		if got := strings.Join(schemadiff.Diff(c.from, c.to), "\n"); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

// TestDumpOfPartitions checks that a dump makes an equal database, whose partitions have valid
// indexes.
func TestDumpOfPartitions(t *testing.T) {
	from, to := testdb.New(t).Conn("postgres"), testdb.New(t).Conn("postgres")
	run(t, from, partitioned)
	var dump strings.Builder
	if err := schemadiff.Write(&dump, read(t, from)); err != nil {
		t.Fatal(err)
	}
	run(t, to, dump.String())
	if diff := cmp.Diff(statements(read(t, from)), statements(read(t, to))); diff != "" {
		t.Errorf("objects differ after the restore:\n%s", diff)
	}
	var invalid int
	if err := to.QueryRow(t.Context(),
		`select count(*) from pg_index where not indisvalid`).Scan(&invalid); err != nil || invalid > 0 {
		t.Errorf("%d indexes are invalid: %v", invalid, err)
	}
}
