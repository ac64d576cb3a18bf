package rest_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daawo/supabase/internal/database/testdb"
)

// literals are values of built-in types, by type. Random values follow them.
var literals = map[string][]string{
	"bool": {"true", "false"}, "bytea": {`\x00ff`, ``}, `"char"`: {"a"}, "name": {"a name"},
	"text": {"", `"\/`, "a\x01\b\f\n\r\t\x1f\x7f", "ሴ é 😀 </script>"}, "varchar(9)": {"x"}, "char(4)": {"x"},
	"xml": {"<a b='c'/>"}, "uuid": {"6ba7b810-9dad-11d1-80b4-00c04fd430c8"}, "int2": {"-32768", "0"},
	"int4": {"2147483647"}, "int8": {"-9223372036854775808"},
	"float4":       {"NaN", "Infinity", "-Infinity", "1e-20", "-0", "3.5", "1e20"},
	"float8":       {"NaN", "Infinity", "-Infinity", "1e-300", "1e300", "0.1", "123456789012345680"},
	"numeric":      {"NaN", "Infinity", "-Infinity", "0", "-0.10", "1e100", "123456789012345678901234567890.123"},
	"numeric(8,2)": {"1.5"},
	"json":         {`{"b": 1,   "a":[null]}`, `"x"`, "null", "1"}, "jsonb": {`{"b": 1, "a":[null]}`, "null"},
	"date": {"2026-01-31", "infinity", "-infinity", "0044-03-15 BC", "12345-06-07"},
	"timestamp": {"2026-01-31 01:02:03", "2026-01-31 23:59:59.999999", "infinity", "-infinity", "0044-03-15 01:00 BC",
		"12345-06-07 08:09:10.5"},
	"timestamptz": {"2026-01-31 01:02:03+00", "1880-06-07 08:09:10.25+00", "infinity", "-infinity",
		"0044-03-15 01:00+00 BC", "12345-06-07 08:09:10+00"},
	"time": {"01:02:03.5", "24:00"}, "timetz": {"01:02:03+05:30"},
	"interval": {"1 year 2 mons -3 days 04:05:06.7", "0"}, "money": {"-12.34"}, "bit(3)": {"101"}, "varbit": {"1"},
	"oid": {"7"}, "tid": {"(1,2)"}, "xid": {"3"}, "cid": {"4"}, "xid8": {"5"}, "pg_lsn": {"16/B374D848"},
	"regclass": {"pg_class"}, "regproc": {"now"}, "regtype": {"int4"}, "regrole": {"anon"}, "regnamespace": {"api"},
	"regcollation": {`"C"`}, "regconfig": {"simple"}, "point": {"(1,2)"}, "lseg": {"[(1,2),(3,4)]"},
	"path": {"((1,2),(3,4))"}, "box": {"(3,4),(1,2)"}, "polygon": {"((1,2),(3,4))"}, "line": {"{1,2,3}"},
	"circle": {"<(1,2),3>"}, "cidr": {"10.0.0.0/8"}, "inet": {"::1"}, "macaddr": {"08:00:2b:01:02:03"},
	"macaddr8": {"08:00:2b:01:02:03:04:05"},
	"tsvector": {"'a':1 'b'"}, "tsquery": {"'a' & 'b'"}, "jsonpath": {`$."a"`},
	"int4range": {"[1,5)"}, "numrange": {"(,2]"}, "tsrange": {`["2026-01-01 00:00:00",)`},
	"tstzrange": {`["2026-01-01 00:00:00+00",)`}, "daterange": {"empty"}, "int8range": {"[1,2)"},
	"int4multirange": {"{[1,3),[5,7)}"}, "datemultirange": {"{}"},
	"api.mood": {"calm", `a "quoted" mood`}, "api.small": {"3"}, "api.span": {"[1.5,2)"},
	// Postgres converts the rest.
	"int4[]": {"{1,NULL}"}, "text[]": {`{a,"b c"}`}, "api.pair": {`(1,"x y")`},
}

const kindsSQL = `
create type api.mood as enum ('calm', 'a "quoted" mood');
create type api.pair as (n int, t text);
create domain api.small as int check (value < 10);
create type api.span as range (subtype = float8);`

// kinds creates a table for each type of literals, with random values where a type has an
// expression for them. It returns the types by table.
func kinds(t *testing.T, d *testdb.DB) map[string]string {
	random := map[string]string{
		"text": `(select string_agg(chr(1 + (random() * 1500)::int), '') from generate_series(1, 1 + i % 40))`,
		"int8": `(random() * 1e18)::int8`, "float8": `(random() - 0.5) * 10 ^ (i % 600 - 300)`,
		"float4":  `((random() - 0.5) * 10 ^ (i % 60 - 30))::float4`,
		"numeric": `(random()::numeric - 0.5) * 10::numeric ^ (i % 80 - 40)`, "uuid": `gen_random_uuid()`,
		"date":        `date '4713-01-01 BC' + (random() * 1e8)::int`,
		"timestamp":   `timestamp '4713-01-01 BC' + random() * interval '90000 years'`,
		"timestamptz": `timestamptz '4713-01-01 BC' + random() * interval '9000 years'`,
	}
	d.Exec(kindsSQL)
	conn := d.Conn("postgres") // a connection for each value would take most of the time
	run := func(sql string, args ...any) {
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatalf("%v in %s", err, sql)
		}
	}
	tables := map[string]string{}
	for kind, values := range literals {
		table := fmt.Sprintf("kind%d", len(tables))
		tables[table] = kind
		run(fmt.Sprintf(`create table api.%s (id int, "the ""value""" %s); grant select on api.%[1]s to anon;
			insert into api.%[1]s values (-1, null)`, table, kind))
		for i, v := range values {
			run(fmt.Sprintf(`insert into api.%s values (%d, $1::text::%s)`, table, i, kind), v)
		}
		if r := random[kind]; r != "" {
			run(fmt.Sprintf(`insert into api.%s select i, %s from generate_series(100, 1500) i`, table, r))
		}
	}
	return tables
}

// TestColumnsEqualRowToJSON compares replies with Postgres' json_agg for all built-in types, some
// user-defined types, and time zones with whole, half and odd offsets.
func TestColumnsEqualRowToJSON(t *testing.T) {
	d := newLibrary(t)
	tables := kinds(t, d)
	b := openOn(t, d, nil)
	for table, kind := range tables {
		for _, zone := range []string{"UTC", "Asia/Kolkata", "Africa/Mogadishu", "America/New_York"} {
			want := testdb.Value[string](b.db,
				fmt.Sprintf(`select json_agg(t order by id)::text from (select set_config('timezone', '%s', false)) s,
				lateral (select * from api.%s where s is not null) t`, zone, table))
			for range 2 { // the second time from the plan cache
				w := b.do(t, scenario{url: "/" + table + "?order=id", header: "Prefer: timezone=" + zone})
				if got := w.Body.String(); w.Code != 200 || got != want {
					t.Fatalf("%s in %s: %d\n%s", kind, zone, w.Code,
						cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")))
				}
			}
		}
		statement, err := b.engine.Explain(scenario{url: "/" + table + "?order=id"}.request(t))
		if err != nil {
			t.Fatal(err)
		}
		byPostgres := strings.HasSuffix(kind, "[]") || kind == "api.pair"
		if strings.Contains(statement, "row_to_json") != byPostgres {
			t.Errorf("%s: converted by Postgres: %v, want %v", kind, !byPostgres, byPostgres)
		}
	}
}

// TestColumnsWithOtherDateStyle checks that dates do not depend on the setting DateStyle of a role
// or database.
func TestColumnsWithOtherDateStyle(t *testing.T) {
	d := newLibrary(t)
	tables := kinds(t, d)
	for _, style := range []string{"German, DMY", "SQL, DMY", "Postgres, MDY"} {
		d.ExecAs("supabase_admin", `alter database `+d.Name+` set datestyle = '`+style+`'`)
		styled := openOn(t, d, nil)
		for table, kind := range tables {
			if kind != "date" && kind != "timestamp" && kind != "timestamptz" {
				continue
			}
			want := testdb.Value[string](d, `select json_agg(t order by id)::text from api.`+table+` t`)
			for _, limit := range []string{"", "&limit=1000"} {
				w := styled.do(t, scenario{url: "/" + table + "?order=id" + limit + "&id=lt.1000"})
				short := testdb.Value[string](d, `select json_agg(t order by id)::text from (select * from api.`+
					table+` where id < 1000) t`)
				if w.Code != 200 || w.Body.String() != short || len(want) < len(short) {
					t.Errorf("%s with %s: %d %.200s", kind, style, w.Code, w.Body)
				}
			}
		}
	}
}

// TestColumnsOfSelections checks selections whose columns differ from the table's.
func TestColumnsOfSelections(t *testing.T) {
	b := open(t, nil)
	b.db.Exec(`create table api.things (id int primary key, tags text[], data jsonb, "a,b" text);
		insert into api.things values (1, '{x,y}', '{"k": [1, "t"]}', 'c'), (2, null, null, null); grant select on api.things to anon;
		create table api.empty (); insert into api.empty default values; grant select on api.empty to anon`)
	b = openOn(t, b.db, nil)
	object := "Accept: application/vnd.pgrst.object+json"
	b.run(t, []scenario{
		{name: "array", url: "/things?select=tags&id=eq.1", want: `=[{"tags":["x","y"]}]`},
		{name: "array again", url: "/things?select=tags&id=eq.2", want: `=[{"tags":null}]`},
		{name: "path", url: "/things?select=x:data->k,y:data->k->>1&id=eq.1", want: `=[{"x":[1, "t"],"y":"t"}]`},
		{name: "cast", url: "/things?select=id::text&id=eq.1", want: `=[{"id":"1"}]`},
		{name: "same name twice", url: "/things?select=id,id&id=eq.1", want: `=[{"id":1,"id":1}]`},
		{name: "comma in a name", url: "/things?select=%22a,b%22&order=id",
			want: "=[{\"a,b\":\"c\"}, \n {\"a,b\":null}]"},
		{name: "no columns", url: "/empty", want: "=[{}]"},
		{name: "one object", url: "/things?select=id,data&id=eq.1", header: object,
			want: `={"id":1,"data":{"k": [1, "t"]}}`},
		{name: "two objects", url: "/things?select=id", header: object, status: 406, has: "The result contains 2 rows"},
		{name: "no object", url: "/things?select=id&id=eq.3", header: object, status: 406,
			has: "The result contains 0 rows"},
		{name: "unconvertible object", url: "/things?select=tags&id=eq.1", header: object, want: `={"tags":["x","y"]}`},
		{name: "stripped", url: "/things?select=id,tags&id=eq.2",
			header: "Accept: application/vnd.pgrst.array+json;nulls=stripped", want: `[{"id":2}]`},
	})
	for _, id := range []string{"1", "2"} { // the statement is known now
		w := b.do(t, scenario{url: "/things?" + url.Values{"select": {"tags"}, "id": {"eq." + id}}.Encode()})
		if w.Code != 200 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
}
