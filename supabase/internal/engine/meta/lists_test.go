package meta_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// project is a schema with each kind of object.
const project = `
create type mood as enum ('sad', 'ok');
create type pair as (a int, b mood);
create table owner (id int8 generated always as identity primary key, name text not null unique, mood mood default 'ok');
create table thing (owner int8 references owner, place int, note text check (note <> ''), primary key (place, owner));
alter table thing enable row level security;
create policy own on thing for select to authenticated using (owner = 1);
create view named as select id, name from owner;
create materialized view counted as select count(*) as n from thing;
create index thing_note on thing (note) where note is not null;
create function things(of owner) returns setof thing language sql stable as 'select * from thing where owner = of.id';
create function act() returns trigger language plpgsql as 'begin return new; end';
create trigger acting before insert or update on thing for each row execute function act('one', 'two');
create publication all_of for table owner;
comment on table owner is 'who';
comment on column owner.name is 'how'`

// TestLists checks the members of one object of each list, and its single form.
func TestLists(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.query(project)
	for path, want := range map[string]string{
		"/schemas": `{"name":"public"}`,
		"/tables": `{"name":"thing","schema":"public","rls_enabled":true,"rls_forced":false,
			"replica_identity":"DEFAULT",
			"comment":null,"live_rows_estimate":0}`,
		"/tables?include_columns=false": `{"name":"owner","comment":"who","columns":null}`,
		"/columns": `{"name":"mood","table":"owner","format":"mood",
			"data_type":"USER-DEFINED","enums":["sad","ok"],"default_value":"'ok'::mood"}`,
		"/views":              `{"name":"named","is_updatable":true}`,
		"/materialized-views": `{"name":"counted","is_populated":true,"columns":null}`,
		"/indexes":            `{"index_definition":"CREATE INDEX thing_note ON public.thing USING btree (note) WHERE (note IS NOT NULL)","key_attributes":[3],"index_predicate":"(note IS NOT NULL)"}`,
		"/functions": `{"name":"things","is_set_returning_function":true,"behavior":"STABLE",
			"prorows":1000,"return_type":"SETOF thing"}`,
		"/triggers": `{"name":"acting","events":["INSERT","UPDATE"],"function_args":["one",
			"two"],"condition":null}`,
		"/types": `{"name":"pair","enums":[],"format":"pair"}`,
		"/roles": `{"name":"anon","is_superuser":false,"password":"********"}`,
		"/policies": `{"name":"own","table":"thing","roles":["authenticated"],
			"definition":"(owner = 1)"}`,
		"/publications": `{"name":"all_of","publish_insert":true}`,
		"/extensions":   `{"name":"plpgsql","installed_version":"1.0","schema":"pg_catalog"}`,
		"/config": `{"name":"work_mem","group":"Resource Usage","subgroup":"Memory",
			"unit":"kB"}`,
		"/table-privileges":  `{"name":"owner","kind":"table"}`,
		"/column-privileges": `{"relation_name":"owner","column_name":"name"}`,
	} {
		members, _ := parse(s, want).(map[string]any)
		list, _ := s.must("GET", path, "").([]any)
		i := slices.IndexFunc(list, func(o any) bool { return matches(o, members) })
		if i < 0 {
			t.Errorf("%s: no object like %s", path, want)
			continue
		}
		id, found := list[i].(map[string]any)["id"]
		if kind, _, _ := strings.Cut(path, "?"); found && kind != "/types" {
			one := s.must("GET", fmt.Sprintf("%s/%v", kind, id), "")
			if !matches(one, members) && members["columns"] == nil {
				delete(members, "columns") // the single form has them
				if !matches(one, members) {
					t.Errorf("%s/%v: %v", kind, id, one)
				}
			}
		}
	}
}

// matches reports whether an object has the members.
func matches(o any, members map[string]any) bool {
	all, _ := o.(map[string]any)
	for name, want := range members {
		a, _ := json.Marshal(all[name])
		b, _ := json.Marshal(want)
		if string(a) != string(b) {
			return false
		}
	}
	return len(all) > 0
}

// TestTableDetails checks the parts of a table.
func TestTableDetails(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.query(project)
	list, _ := s.must("GET", "/tables?included_schemas=public", "").([]any)
	if len(list) != 2 {
		t.Fatalf("%d tables", len(list))
	}
	thing, _ := list[1].(map[string]any)
	id := thing["id"]
	s.has(thing, fmt.Sprintf(`{"primary_keys":[{"schema":"public","table_name":"thing","name":"place","table_id":%v},
		{"schema":"public","table_name":"thing","name":"owner","table_id":%v}]}`, id, id))
	links, _ := thing["relationships"].([]any)
	if len(links) != 1 || !matches(links[0], map[string]any{"constraint_name": "thing_owner_fkey",
		"source_table_name": "thing", "source_column_name": "owner", "target_table_name": "owner", "target_column_name": "id"}) {
		t.Errorf("%v", links)
	}
	if columns, _ := thing["columns"].([]any); len(columns) != 3 || !matches(columns[2], map[string]any{"check": "note <> ''::text"}) {
		t.Errorf("%v", columns)
	}
}

// TestListParameters checks the query parameters of lists.
func TestListParameters(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.query(project)
	n := func(path string) int {
		list, _ := s.must("GET", path, "").([]any)
		return len(list)
	}
	for path, want := range map[string]int{
		"/tables?included_schemas=public": 2, "/tables?included_schemas=public&limit=1": 1,
		"/tables?included_schemas=public&offset=1": 1, "/tables?included_schemas=nowhere": 0,
		"/views?included_schemas=public,auth": 1, "/config?limit=3&offset=2": 3,
		"/types?included_schemas=public": 2, "/types?included_schemas=public&include_array_types=true": 8,
	} {
		if got := n(path); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	if all, some := n("/tables"), n("/tables?excluded_schemas=public"); all-some != 2 {
		t.Errorf("%d tables, %d without public", all, some)
	}
	if own, all := n("/functions"), n("/functions?include_system_schemas=true"); all < own+2000 {
		t.Errorf("%d functions, %d with the system's", own, all)
	}
	for path, status := range map[string]int{"/tables?limit=x": 400, "/tables?include_columns=x": 400, "/tables/x": 404,
		"/tables/1": 404, "/extensions/none": 404, "/nothing": 404, "/": 200, "/health": 200, "/config/version": 200} {
		if got, text := s.send("GET", path, ""); got != status {
			t.Errorf("%s: %d %s, want %d", path, got, text, status)
		}
	}
	if got, _ := s.send("POST", "/config", "{}"); got != http.StatusNotFound {
		t.Errorf("POST /config: %d", got)
	}
}

// TestGenerators checks that each language has its types, and that schemas can be chosen.
func TestGenerators(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.query(project + "; create schema more; create table more.extra (id int)")
	for path, want := range map[string]string{
		"/generators/typescript?included_schemas=public&detect_one_to_one_relationships=true": "isOneToOne: false",
		"/generators/typescript?postgrest_version=14":                                         `PostgrestVersion: "14"`,
		"/generators/go": "type PublicThingSelect struct {",
		"/generators/swift?access_control=public":   "public struct ThingSelect: Codable",
		"/generators/python?included_schemas=more":  "class MoreExtra(BaseModel):",
		"/generators/python?excluded_schemas= more": "class PublicThing(BaseModel):",
	} {
		status, text := s.send("GET", strings.ReplaceAll(path, " ", "%20"), "")
		if status != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%s: %d, no %s in\n%s", path, status, want, text)
		}
		if strings.Contains(path, "=more") == strings.Contains(text, "PublicThing") && strings.Contains(path, "python") {
			t.Errorf("%s: other schemas", path)
		}
	}
}

// TestFormat checks the layout of statements.
func TestFormat(t *testing.T) {
	t.Parallel()
	s := start(t)
	for sql, want := range map[string]string{
		"select a, count(*) from t left join u on t.id=u.id where a in (1,2) and b = '; from' group by 1; select $$ from $$": `select
  a,
  count(*)
from
  t
  left join u on t.id = u.id
where
  a in (1, 2)
  and b = '; from'
group by
  1;

select
  $$ from $$
`,
		"insert into t (a, b) values (1, 'x') returning id": `insert into t (a, b)
values
  (1, 'x')
returning
  id
`,
		"select x from (select 1 as x) s": `select
  x
from
  (
    select
      1 as x
  ) s
`,
	} {
		status, got := s.send("POST", "/query/format", `{"query":`+quoted(sql)+`}`)
		if status != http.StatusOK || got != want {
			t.Errorf("%d %s\nwant\n%s", status, got, want)
		}
	}
	if status, _ := s.send("POST", "/query/format", `{}`); status != http.StatusBadRequest {
		t.Errorf("no query: %d", status)
	}
}
