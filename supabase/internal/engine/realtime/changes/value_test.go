package changes

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daawo/supabase/internal/database/testdb"
)

// TestValues compares the JSON of values with to_jsonb. Bytes are hexadecimal digits, as upstream
// sends them.
func TestValues(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(`create type mood as enum ('ok', 'it''s "fine"');
		create type pair as (a int, b text);
		create domain positive as int check (value > 0);
		create table v (id int primary key, i2 int2, i8 int8, f4 float4, f8 float8, n numeric, b bool, t text, vc varchar(9), bc char(4),
			u uuid, j json, jb jsonb, by bytea, ts timestamp, tz timestamptz, d date, ti time, iv interval, m mood, p pair, po positive,
			a int[], ta text[], r int4range, i inet, x xml, nm name);
		alter publication supabase_realtime add table v;`)
	box, _ := subscribe(t, s, "service_role", service, Binding{Table: "v"})
	d.Exec(`insert into v values (1, -7, 9007199254740993, 1.5, 1e100, 12.3400, true, E'tab\t"\\ é \u0001', 'v', 'c', gen_random_uuid(),
		'{"b": 1, "a": [1, 1.0]}', '{"b": 1, "a": "\u00e9"}', '\x00ff', '2026-01-02 03:04:05.678', '2026-01-02 03:04:05.6+02', '2026-01-02', '03:04:05',
		'1 day 02:00', 'it''s "fine"', row(1, 'x'), 5, '{1,null}', '{a,"b c"}', '[1,3)', '10.0.0.1/8', '<a/>', 'name')`)
	d.Exec(`insert into v (id, f4, f8, n, ts, tz, d) values (2, 'NaN', '-Infinity', 'NaN', 'infinity', '-infinity', 'infinity'),
		(3, -0.0, 1e-7, 'Infinity', '0044-03-15 12:00 BC', '0044-03-15 12:00 BC', '0044-03-15 BC'),
		(4, 1e20, 123456789.123456789, -0.00001, '12026-01-01', '12026-01-01', '12026-01-01')`)
	settle(t, d, s)
	changes := box.take()
	if len(changes) != 4 {
		t.Fatalf("%d changes", len(changes))
	}
	for i, c := range changes {
		var data struct{ Record map[string]any }
		if err := json.Unmarshal(c.Data, &data); err != nil {
			t.Fatalf("%s: %v", c.Data, err)
		}
		var want map[string]any
		row := testdb.Value[string](d, `
			select (to_jsonb(v) || jsonb_build_object('by', encode(by, 'hex')))::text from v where id = $1`, i+1)
		if err := json.Unmarshal([]byte(row), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, data.Record); diff != "" {
			t.Errorf("row %d: %s", i+1, diff)
		}
	}
}

// TestGeneratedColumns: pgoutput leaves them out, upstream's records have them.
func TestGeneratedColumns(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(`create function twice(i int) returns int immutable language sql as 'select 2 * i';
		create table g (id int primary key, "a b" int, big boolean generated always as ("a b" > 2) stored, body text, n int,
			words tsvector generated always as (to_tsvector('english', coalesce(body, ''))) stored, own int generated always as (twice("a b")) stored);
		alter table g replica identity full;
		alter publication supabase_realtime add table g`)
	box, _ := subscribe(t, s, "service_role", service, Binding{Table: "g"})
	big, _ := subscribe(t, s, "service_role", service, Binding{Table: "g", Filter: "big=is.true"})
	d.Exec(`insert into g (id, "a b", body, n) values (1, 1, 'the cats', 0); update g set "a b" = 3; delete from g`)
	settle(t, d, s)
	const (
		first  = `{"id":1,"a b":1,"body":"the cats","n":0,"big":false,"words":"'cat':2"}`
		second = `{"id":1,"a b":3,"body":"the cats","n":0,"big":true,"words":"'cat':2"}`
	)
	expect(t, box, `INSERT [1] `+first, `UPDATE [1] `+second+` old `+first, `DELETE [1] old `+second)
	expect(t, big, `UPDATE [1] `+second+` old `+first, `DELETE [1] old `+second)
}

// TestGeneratedColumnsOfUnchangedToast: an update that leaves a large value as it is has the
// generated columns that do not read it.
func TestGeneratedColumnsOfUnchangedToast(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(`create table g (id int primary key, n int, body text, twice int generated always as (2 * n) stored,
			size int generated always as (length(body)) stored);
		alter table g alter body set storage external;
		alter publication supabase_realtime add table g;
		insert into g values (1, 1, repeat('x', 5000))`)
	box, _ := subscribe(t, s, "service_role", service, Binding{Table: "g"})
	twice, _ := subscribe(t, s, "service_role", service, Binding{Table: "g", Filter: "twice=eq.4"})
	d.Exec(`update g set n = 2`)
	settle(t, d, s)
	const want = `UPDATE [1] {"id":1,"n":2,"twice":4} old {"id":1}`
	expect(t, box, want)
	expect(t, twice, want)
}

// TestFailingGeneratedColumn: a column that the server cannot compute is left out, and the log has
// that once per table.
func TestFailingGeneratedColumn(t *testing.T) {
	var text logText
	d, s := open(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&text, nil)) })
	for _, table := range []string{"g", "h"} {
		d.Exec(`create table ` + table +
			` (id int primary key, n int); alter publication supabase_realtime add table ` + table)
		box, _ := subscribe(t, s, "service_role", service, Binding{Table: table})
		for range 3 {
			// The row is gone when the column is added, so that only the check divides by zero.
			d.Exec(`alter table ` + table + ` drop column if exists tenth;
				insert into ` + table + ` values (1, 0); truncate ` + table + `;
				alter table ` + table + ` add column tenth int generated always as (10 / n) stored`)
			settle(t, d, s)
			expect(t, box, `INSERT [1] {"id":1,"n":0}`)
		}
		d.Exec(`insert into ` + table + ` values (3, 5)`)
		settle(t, d, s)
		expect(t, box, `INSERT [1] {"id":3,"n":5,"tenth":2}`)
	}
	for _, table := range []string{"g", "h"} {
		if n := strings.Count(text.String(), "schema=public table="+table); n != 1 {
			t.Errorf("%d log lines about %s:\n%s", n, table, text.String())
		}
	}
}

// TestGeneratedColumnsOfColumnList: a list of columns of the publication leaves them out, whatever
// they are computed from, as the other columns that it does not name.
func TestGeneratedColumnsOfColumnList(t *testing.T) {
	var text logText
	d, s := open(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&text, nil)) })
	d.Exec(`create table g (id int primary key, n int, hidden int, sum int generated always as (n + hidden) stored,
			twice int generated always as (2 * n) stored);
		alter publication supabase_realtime add table g (id, n)`)
	box, _ := subscribe(t, s, "service_role", service, Binding{Table: "g"})
	d.Exec(`insert into g (id, n, hidden) values (1, 2, 3)`)
	settle(t, d, s)
	changes := box.take()
	if got := show(t, changes); len(got) != 1 || got[0] != `INSERT [1] {"id":1,"n":2}` {
		t.Fatal(got)
	}
	if !strings.Contains(string(changes[0].Data), `"columns":[{"name":"id","type":"int4"},{"name":"n","type":"int4"}],`) {
		t.Errorf("names hidden columns: %s", changes[0].Data)
	}
	if strings.Contains(text.String(), "level=WARN") {
		t.Errorf("a warning without a fault:\n%s", text.String())
	}
}
