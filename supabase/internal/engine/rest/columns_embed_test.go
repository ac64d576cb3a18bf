package rest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/engine/rest"
)

// TestEmbedsEqualJSONB compares embedded relations of every type with Postgres' jsonb: to-one,
// to-many, many-to-many, on two levels.
func TestEmbedsEqualJSONB(t *testing.T) {
	d := newLibrary(t)
	tables := kinds(t, d)
	d.Exec(`create table api.parents (id int primary key); insert into api.parents values (1), (2);
		grant select on api.parents to anon`)
	names := make([]string, 0, len(tables))
	for table := range tables {
		names = append(names, table)
		d.Exec(fmt.Sprintf(`delete from api.%s where ctid not in (select min(ctid) from api.%[1]s group by id);
			alter table api.%[1]s rename "the ""value""" to "Värde"; alter table api.%[1]s add primary key (id), add parent int default 1 references api.parents;
			create table api.%[1]s_link (one int references api.%[1]s, other int references api.parents, primary key (one, other));
			insert into api.%[1]s_link select id, 2 from api.%[1]s; grant select on api.%[1]s_link to anon`, table))
	}
	slices.Sort(names)
	b := openOn(t, d, nil)
	for _, table := range names {
		order := func(path string) string { return "&" + path + ".order=id" }
		for url, query := range map[string]string{
			"/" + table + "?select=id,parents!" + table +
				"_parent_fkey(*)&order=id": `select k.id, to_jsonb(p) as parents from api.%[1]s k left join api.parents p on p.id = k.parent order by k.id`,
			"/parents?order=id&select=id,k:" + table + "!" + table + "_parent_fkey(*)" + order("k"): `
				select p.id, (select coalesce(json_agg(k order by id), '[]')::jsonb from api.%[1]s k where k.parent = p.id) as k from api.parents p order by p.id`,
			"/parents?order=id&select=k:" + table + "!" + table + "_link(*)" + order("k"): `
				select (select coalesce(json_agg(k order by id), '[]')::jsonb from api.%[1]s k where p.id = 2) as k from api.parents p order by p.id`,
			"/parents?id=eq.1&select=l:" + table + "!" + table + "_parent_fkey(id,n:" + table + "_link(other,k:" +
				table + "(*)))" + order("l"): `
				select (select json_agg(json_build_object('id', k.id, 'n', json_build_array(json_build_object('other', 2, 'k', k))) order by id)::jsonb from api.%[1]s k) as l`,
		} {
			want := testdb.Value[string](b.db, fmt.Sprintf(`select json_agg(t)::text from (`+query+`) t`, table))
			w := b.do(t, scenario{url: url})
			if got := w.Body.String(); w.Code != 200 || got != want {
				t.Fatalf("%s of %s: %d\n%s", url, tables[table], w.Code,
					cmp.Diff(strings.Split(want, "},"), strings.Split(got, "},")))
			}
			statement, err := b.engine.Explain(scenario{url: url}.request(t))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(statement, "jsonb") {
				t.Fatalf("%s of %s was converted by Postgres:\n%s", url, tables[table], statement)
			}
		}
	}
}

// TestEmbedsThatPostgresConverts checks the queries and values whose JSON only Postgres can write.
func TestEmbedsThatPostgresConverts(t *testing.T) {
	b := open(t, nil)
	b.db.Exec(`create table api.owners (id int primary key, name text); insert into api.owners values (1, 'x');
		create table api.cases (id int primary key, owner int references api.owners, data json);
		insert into api.cases values (1, 1, '{"\n": 1}'), (2, 1, '{"a":1e2000,"a":2}'); grant select on api.owners, api.cases to anon`)
	b = openOn(t, b.db, func(c *rest.Config) { c.Aggregates = true })
	cases := "/owners?select=id,cases(id,data)&cases.order=id"
	b.run(t, []scenario{
		{name: "key with an escape", url: cases + "&cases.id=eq.1",
			want: `=[{"id":1,"cases":[{"id": 1, "data": {"\n": 1}}]}]`},
		{name: "again", url: cases + "&cases.id=eq.1", want: `=[{"id":1,"cases":[{"id": 1, "data": {"\n": 1}}]}]`},
		{name: "huge number", url: cases + "&cases.id=eq.2", has: `{"id": 2, "data": {"a": 2}}`},
		{name: "grouped", url: "/owners?select=id,cases(id.sum())", want: `=[{"id":1,"cases":[{"sum": 3}]}]`},
		{name: "grouped by an embed", url: "/cases?select=owners(name),id.sum()",
			want: `=[{"sum":3,"owners":{"name": "x"}}]`},
		{name: "spread of an embed", url: "/cases?select=id,...owners(name,cases(id))&id=eq.1&owners.cases.order=id",
			want: `=[{"id":1,"name":"x","cases":[{"id": 1}, {"id": 2}]}]`},
		{name: "spread in an embed", url: "/owners?select=cases(...owners(name))",
			want: `=[{"cases":[{"name": "x"}, {"name": "x"}]}]`},
		{name: "with a count", url: "/owners?select=cases(id)&limit=1&cases.order=id", header: "Prefer: count=exact",
			want: `=[{"cases":[{"id": 1}, {"id": 2}]}]`},
		{name: "object", url: "/owners?select=cases(id)&cases.order=id",
			header: "Accept: application/vnd.pgrst.object+json", want: `={"cases":[{"id": 1}, {"id": 2}]}`},
		{name: "empty and missing", url: "/owners?select=id,cases(id)&cases.id=eq.9", want: `=[{"id":1,"cases":[]}]`},
		{name: "inner", url: "/owners?select=id,cases!inner(id)&cases.id=eq.9", want: `=[]`},
		{name: "anti-join", url: "/owners?select=id,cases()&cases=is.null", want: `=[]`},
	})
	w := b.do(t, scenario{url: "/owners?select=cases(data)"})
	b.db.Exec(`insert into api.cases values (3, 1, '"\u0000"')`)
	if bad := b.do(t, scenario{url: "/owners?select=cases(data)"}); w.Code != 200 || bad.Code != 400 ||
		!strings.Contains(bad.Body.String(), "22P05") {
		t.Errorf("%d; %d %s", w.Code, bad.Code, bad.Body)
	}
}

// TestColumnsOfCalls checks calls whose rows the engine converts, and that a call that may write
// runs only once.
func TestColumnsOfCalls(t *testing.T) {
	b := open(t, nil)
	b.db.Exec(`create table api.things (id int primary key, at date, tags text[]); insert into api.things values (1, '2026-01-02', '{a}'), (2, null, null);
		create table api.called (n int generated always as identity); grant all on api.things, api.called to anon;
		create function api.some(lowest int) returns setof api.things language sql stable as 'select * from api.things where id >= lowest order by id';
		create function api.noisy() returns setof api.things language sql volatile as 'insert into api.called default values; select * from api.things order by id';
		create function api.made() returns table (k int, v text) language sql immutable as 'select 1, ''x'' union all select 2, null';
		create function api.status() returns setof api.things language plpgsql stable as
			$$ begin perform set_config('response.status', '202', true); return query select * from api.things where id = 1; end $$`)
	b = openOn(t, b.db, nil)
	b.run(t, []scenario{
		{name: "table", url: "/rpc/some?lowest=1&select=id,at",
			want: "=[{\"id\":1,\"at\":\"2026-01-02\"}, \n {\"id\":2,\"at\":null}]", reply: "Content-Range: 0-1/*"},
		{name: "POST", method: "POST", url: "/rpc/some?select=id&limit=1", body: `{"lowest":2}`,
			header: "Content-Type: application/json", want: `=[{"id":2}]`},
		{name: "arrays", url: "/rpc/some?lowest=1&order=id",
			want: "=[{\"id\":1,\"at\":\"2026-01-02\",\"tags\":[\"a\"]}, \n {\"id\":2,\"at\":null,\"tags\":null}]"},
		{name: "none", url: "/rpc/some?lowest=9&select=id", want: `=[]`, reply: "Content-Range: */*"},
		{name: "columns of the function", url: "/rpc/made?order=k.desc",
			want: "=[{\"k\":2,\"v\":null}, \n {\"k\":1,\"v\":\"x\"}]"},
		{name: "object", url: "/rpc/made?k=eq.1", header: "Accept: application/vnd.pgrst.object+json",
			want: `={"k":1,"v":"x"}`},
		{name: "counted", url: "/rpc/made?limit=1", header: "Prefer: count=exact", status: 206,
			want: `=[{"k":1,"v":"x"}]`, reply: "Content-Range: 0-0/2"},
		{name: "all counted", url: "/rpc/made", header: "Prefer: count=exact", reply: "Content-Range: 0-1/2"},
		{name: "settings", url: "/rpc/status?select=id", status: 202, want: `=[{"id":1}]`},
		{name: "writes", method: "POST", url: "/rpc/noisy", header: "Prefer: tx=commit", has: `"tags":["a"]`},
	})
	if n := testdb.Value[int](b.db, `select count(*)::int from api.called`); n != 1 {
		t.Errorf("called %d times", n)
	}
}
