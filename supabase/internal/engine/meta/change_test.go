package meta_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// object is a reply with one object.
type object map[string]any

// made sends a change and returns its object.
func (s *server) made(method, path, body string) object {
	s.Helper()
	o, ok := s.must(method, path, body).(map[string]any)
	if !ok {
		s.Fatalf("%s %s: no object", method, path)
	}
	return o
}

func (o object) path(kind string) string { return fmt.Sprintf("/%s/%v", kind, o["id"]) }

// has compares some members of an object.
func (s *server) has(o object, members string) {
	s.Helper()
	want, _ := parse(s, members).(map[string]any)
	for name, value := range want {
		got, _ := json.Marshal(o[name])
		if text, _ := json.Marshal(value); string(got) != string(text) {
			s.Errorf("%s: got %s, want %s", name, got, text)
		}
	}
}

// removed removes an object and checks that it is gone.
func (s *server) removed(path, message string) {
	s.Helper()
	s.must("DELETE", path, "")
	if status, text := s.send("GET", strings.Split(path, "?")[0], ""); status != http.StatusNotFound ||
		!strings.Contains(text, message) {
		s.Errorf("%s: %d %s", path, status, text)
	}
}

// TestTables makes, changes and removes schemas, tables and columns.
func TestTables(t *testing.T) {
	t.Parallel()
	s := start(t)
	schema := s.made("POST", "/schemas", `{"name":"odd \"schema"}`)
	s.has(schema, `{"name":"odd \"schema","owner":"postgres"}`)
	table := s.made("POST", "/tables", `{"name":"t'1","schema":"odd \"schema","comment":"it's; \\ here"}`)
	s.has(table, `{"name":"t'1","comment":"it's; \\ here","columns":[],"primary_keys":[]}`)
	id := fmt.Sprint(table["id"])
	column := s.made("POST", "/columns", `{"table_id":`+id+`,"name":"c d","type":"integer","default_value":42,
			"is_unique":true,
		"is_nullable":false,"comment":"one","check":"\"c d\" > 0"}`)
	s.has(column, `{"id":"`+id+`.1","format":"int4","default_value":"42","is_unique":true,"is_nullable":false,
		"comment":"one","check":"\"c d\" > 0"}`)
	column = s.made("PATCH", column.path("columns"), `{"name":"c","type":"bigint","default_value":"1 + 1",
			"check":null,
		"default_value_format":"expression","is_nullable":true,"is_unique":false,"comment":"two"}`)
	s.has(column, `{"name":"c","format":"int8","default_value":"(1 + 1)","is_nullable":true,"is_unique":false,
			"check":null}`)
	key := s.made("POST", "/columns", `{"table_id":`+id+`,"name":"id","type":"int8","is_identity":true,
		"identity_generation":"ALWAYS"}`)
	s.has(key, `{"is_identity":true,"identity_generation":"ALWAYS"}`)
	s.has(s.made("PATCH", key.path("columns"), `{"name":"key"}`), `{"identity_generation":"ALWAYS"}`)
	table = s.made("PATCH", "/tables/"+id, `{"name":"t2","rls_enabled":true,"rls_forced":true,
			"replica_identity":"FULL",
		"primary_keys":[{"name":"key"}],"schema":"public"}`)
	s.has(table, `{"name":"t2","schema":"public","rls_enabled":true,"rls_forced":true,"replica_identity":"FULL",
		"primary_keys":[{"schema":"public","table_name":"t2","name":"key","table_id":`+id+`}]}`)
	s.has(s.made("PATCH", "/tables/"+id, `{"primary_keys":[]}`), `{"primary_keys":[]}`)
	s.has(s.made("PATCH", column.path("columns"), `{"type":"char","comment":null}`),
		`{"format":"bpchar","comment":null}`)
	s.has(s.made("PATCH", "/tables/"+id, `{"comment":null}`), `{"comment":null}`)
	for path, message := range map[string]string{"/tables/" + id: "body/name must not be number",
		column.path("columns"): "body must not be array"} {
		body := map[bool]string{true: `{"name":5}`, false: `[]`}[strings.HasPrefix(path, "/tables")]
		status, text := s.send("PATCH", path, body)
		if status != http.StatusBadRequest || !strings.Contains(text, message) {
			t.Errorf("%s %s: %d %s", path, body, status, text)
		}
	}
	if status, text := s.send("DELETE", "/tables/"+id+"?cascade=1", ""); status != http.StatusBadRequest {
		t.Errorf("cascade=1: %d %s", status, text)
	}
	s.removed(column.path("columns"), "Cannot find a column with ID")
	s.removed("/tables/"+id+"?cascade=true", "Cannot find a table with ID")
	s.has(s.made("PATCH", schema.path("schemas"), `{"name":"even"}`), `{"name":"even"}`)
	s.removed(schema.path("schemas"), "Cannot find a schema with ID")
}

// TestExpressions checks that an expression cannot end its statement and begin another one.
func TestExpressions(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.query("create table victim (id int)")
	table := s.made("POST", "/tables", `{"name":"t"}`)
	id := fmt.Sprint(table["id"])
	const attack = `true); drop table victim; select (1`
	for path, body := range map[string]string{
		"/columns":  `{"table_id":` + id + `,"name":"c","type":"int4","check":"` + attack + `"}`,
		"/policies": `{"name":"p","table":"t","definition":"` + attack + `"}`,
		"/functions": `{"name":"f","definition":"select 1",
			"return_type":"int as 'select 1' language sql; drop table victim; --"}`,
		"/triggers": `{"name":"g","table":"t","function_name":"f","activation":"AFTER",
			"events":["INSERT; drop table victim"]}`,
		"/publications": `{"name":"p\"; drop table victim; --","tables":["t\"; drop table victim; --"]}`,
		"/roles":        `{"name":"r\"; drop table victim; --","member_of":["x\"; drop table victim; --"]}`,
		"/extensions":   `{"name":"x\"; drop table victim; --","version":"1'; drop table victim; --"}`,
		"/schemas":      `{"name":"s","owner":"postgres\"; drop table victim; --"}`,
	} {
		if status, text := s.send("POST", path, body); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	for _, body := range []string{
		`{"replica_identity":"FULL; drop table victim"}`, `{"schema":"public\"; drop table victim; --"}`,
		`{"replica_identity":"INDEX","replica_identity_index":"i; drop table victim"}`,
	} {
		if status, text := s.send("PATCH", "/tables/"+id, body); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", body, status, text)
		}
	}
	if status, _ := s.send("GET", "/tables?included_schemas=public%27);drop%20table%20victim;--", ""); status != http.StatusOK {
		t.Errorf("a list with a quote: %d", status)
	}
	for _, part := range []string{
		`true), drop column id, add check (true`, `1 +-- (\n 1), drop column id`, `E'\\'' ), drop column id --'`,
		`/* /* */ ( */ true), drop column id`, `$a1$ ( $a1$ = ''), drop column id`, `'`, `\"`, `/*`, `(`,
	} {
		for _, field := range []string{"check", "default_value"} {
			body := `{"table_id":` + id + `,"name":"c","type":"bool","default_value_format":"expression","` + field +
				`":"` + part + `"}`
			if status, text := s.send("POST", "/columns", body); status != http.StatusBadRequest {
				t.Errorf("%s %s: %d %s", field, part, status, text)
			}
		}
		body := `{"name":"p","table":"t","definition":"` + part + `"}`
		if status, text := s.send("POST", "/policies", body); status != http.StatusBadRequest {
			t.Errorf("policy %s: %d %s", part, status, text)
		}
	}
	s.want("the other table", s.query("select to_regclass('victim') is not null as there"), `[{"there":true}]`)
}

// TestRoutines makes, changes and removes functions, triggers and policies.
func TestRoutines(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.query(`create table t (id int, name text, "a,b" int)`)
	f := s.made("POST", "/functions", `{"name":"f","args":["a int4","b int4 default 2"],"definition":"select a + b",
		"return_type":"int4","behavior":"IMMUTABLE","security_definer":true,"config_params":{"search_path":"a, b"}}`)
	s.has(f, `{"language":"sql","behavior":"IMMUTABLE","security_definer":true,
			"argument_types":"a integer, b integer DEFAULT 2",
		"return_type":"integer","config_params":{"search_path":"a, b"},"args":[
		{"mode":"in","name":"a","type_id":23,"has_default":false},{"mode":"in","name":"b","type_id":23,
			"has_default":true}]}`)
	f = s.made("PATCH", f.path("functions"), `{"name":"g","schema":"auth","definition":"select a - b"}`)
	s.has(f, `{"name":"g","schema":"auth","definition":"select a - b","config_params":{"search_path":"a, b"}}`)
	s.removed(f.path("functions"), "Cannot find a function with ID")
	s.query(`create function kept() returns setof int language sql cost 7 rows 9
		set application_name to '"a", b' as 'select 1'`)
	kept, _ := s.query("select oid as id from pg_proc where proname = 'kept'").([]any)[0].(map[string]any)
	s.has(s.made("PATCH", object(kept).path("functions"), `{"definition":"select 2 -- two"}`),
		`{"config_params":{"application_name":"\"a\", b"}}`)
	s.want("cost, rows", s.query("select procost, prorows from pg_proc where proname = 'kept'"),
		`[{"procost":7,"prorows":9}]`)
	f = s.made("POST", "/functions", `{"name":"f","definition":"select 1","return_type":"int4",
		"config_params":{"search_path":"\"a,b\", 'c d', e","work_mem":4096}}`)
	s.has(f, `{"config_params":{"search_path":"\"a,b\", \"c d\", e","work_mem":"4096"}}`)
	s.made("POST", "/functions", `{"name":"act","language":"plpgsql","return_type":"trigger",
			"definition":"begin return new; end"}`)
	g := s.made("POST", "/triggers", `{"name":"g","table":"t","function_name":"act","activation":"BEFORE",
			"orientation":"ROW",
		"events":["INSERT","UPDATE OF ID, \"name\", \"a,b\""],"condition":"new.id > 1","function_args":["x'y","z"]}`)
	s.has(g, `{"activation":"BEFORE","events":["INSERT","UPDATE"],"condition":"(new.id > 1)",
			"function_args":["x'y","z"],
		"enabled_mode":"ORIGIN","orientation":"ROW","function_name":"act","function_schema":"public"}`)
	s.has(s.made("PATCH", g.path("triggers"), `{"name":"h","enabled_mode":"DISABLED"}`), `{"name":"h",
			"enabled_mode":"DISABLED"}`)
	s.removed(g.path("triggers"), "Cannot find a trigger with ID")
	p := s.made("POST", "/policies", `{"name":"p","table":"t","command":"SELECT","roles":["anon",
			"authenticated"],"definition":"id = 1"}`)
	s.has(p, `{"action":"PERMISSIVE","command":"SELECT","definition":"(id = 1)","check":null,"roles":["anon",
			"authenticated"]}`)
	p = s.made("PATCH", p.path("policies"), `{"name":"q","definition":"id = 2 -- two","roles":["public"]}`)
	s.has(p, `{"name":"q","definition":"(id = 2)","roles":["public"]}`)
	s.removed(p.path("policies"), "Cannot find a policy with ID")
}

// TestAccess makes, changes and removes roles, privileges, publications and extensions.
func TestAccess(t *testing.T) {
	t.Parallel()
	s := start(t)
	r := s.made("POST", "/roles", `{"name":"made_role","can_login":true,"password":"p'w","connection_limit":3,
		"valid_until":"2030-01-02T00:00:00Z","config":{"search_path":"a, b"}}`)
	s.has(r, `{"can_login":true,"is_superuser":false,"connection_limit":3,"config":{"search_path":"a, b"}}`)
	t.Cleanup(func() { s.db.ExecAs("postgres", "drop role if exists made_role; drop role if exists kept_role") })
	r = s.made("PATCH", r.path("roles"), `{"name":"kept_role","can_login":false,"member_of":["anon"],"config":[{"op":"remove",
			"path":"search_path"},
		{"op":"add","path":"statement_timeout","value":"5s"}]}`)
	s.has(r, `{"name":"kept_role","can_login":false,"config":{"statement_timeout":"5s"}}`)
	if status, text := s.send("POST", "/roles", `{"name":"root",
			"is_superuser":true}`); status != http.StatusBadRequest {
		t.Errorf("a superuser: %d %s", status, text)
	}
	table := s.made("POST", "/tables", `{"name":"t"}`)
	id := fmt.Sprint(table["id"])
	s.made("POST", "/columns", `{"table_id":`+id+`,"name":"c","type":"int4"}`)
	count := func(path, method, body string) int {
		list, _ := s.must(method, path, body).([]any)
		text, _ := json.Marshal(list)
		return strings.Count(string(text), `"grantee":"kept_role"`)
	}
	if n := count("/table-privileges", "POST", `[{"relation_id":`+id+`,"grantee":"kept_role",
			"privilege_type":"SELECT"}]`); n != 1 {
		t.Errorf("granted: %d", n)
	}
	if n := count("/table-privileges", "DELETE", `[{"relation_id":`+id+`,"grantee":"kept_role",
			"privilege_type":"ALL"}]`); n != 0 {
		t.Errorf("revoked: %d", n)
	}
	if n := count("/column-privileges", "POST", `[{"column_id":"`+id+`.1","grantee":"kept_role",
			"privilege_type":"ALL",
		"is_grantable":true}]`); n != 4 {
		t.Errorf("granted on the column: %d", n)
	}
	if n := count("/column-privileges", "DELETE", `[{"column_id":"`+id+`.1","grantee":"kept_role",
			"privilege_type":"ALL"}]`); n != 0 {
		t.Errorf("revoked on the column: %d", n)
	}
	s.removed(r.path("roles"), "Cannot find a role with ID")

	p := s.made("POST", "/publications", `{"name":"made","tables":["public.t"],"publish_insert":true}`)
	s.has(p, `{"publish_insert":true,"publish_update":false,"tables":[{"id":`+id+`,"name":"t","schema":"public"}]}`)
	p = s.made("PATCH", p.path("publications"), `{"name":"other","publish_update":true,"tables":[]}`)
	s.has(p, `{"name":"other","publish_insert":true,"publish_update":true,"tables":[]}`)
	s.removed(p.path("publications"), "Cannot find a publication with ID")
	s.made("POST", "/roles", `{"name":"kept_role","config":{"pgrst.db_schemas":"public, api"}}`)
	s.want("a setting with a comma",
		s.query("select setconfig from pg_db_role_setting where setrole = 'kept_role'::regrole"), `[{"setconfig":["pgrst.db_schemas=public, api"]}]`)

	s.has(s.made("POST", "/extensions", `{"name":"citext","schema":"extensions"}`), `{"name":"citext",
			"schema":"extensions"}`)
	s.made("DELETE", "/extensions/citext", "")
	s.has(s.made("GET", "/extensions/uuid%2Dossp", ""), `{"name":"uuid-ossp"}`)
	s.has(s.made("GET", "/extensions/citext", ""), `{"name":"citext","installed_version":null}`)
}
