package messages

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/testdb"
)

// walrusSetup makes a table, users and subscriptions for the functions that only the real Realtime
// calls.
const walrusSetup = `
	create table notes (id bigint primary key, body text, done boolean, owner uuid, secret text);
	create table "Odd, name" (id int);
	alter table notes enable row level security;
	create policy own on notes for select to authenticated using (owner = auth.uid());
	revoke select on notes from authenticated, anon;
	grant select (id, body, done, owner) on notes to authenticated;
	grant select (body) on notes to anon;
	insert into notes values (1, 'a', true, '7f2f0dc9-8e3e-4d0e-9f3f-1a2b3c4d5e6f', 's')`

// subscriptions are accepted or refused by the trigger: id, entity, filters, claims, event,
// columns.
var subscriptions = [][]any{
	{1, "notes", `{}`, `{"role": "authenticated", "sub": "7f2f0dc9-8e3e-4d0e-9f3f-1a2b3c4d5e6f"}`, "*", nil},
	{2, "notes", `{}`, `{"role": "authenticated", "sub": "00000000-0000-4000-8000-000000000001"}`, "*", nil},
	{3, "notes", `{"(body,eq,a,f)"}`, `{"role": "service_role"}`, "INSERT", `{id,body}`},
	{4, "notes", `{"(body,like,b%,)","(id,gt,0,t)"}`, `{"role": "service_role"}`, "*", nil},
	{5, "notes", `{}`, `{"role": "anon"}`, "*", nil},
	{6, "notes", `{"(id,in,\"{1,2}\",f)","(done,is,true,f)"}`, `{"role": "service_role"}`, "UPDATE", `{done}`},
	{7, "notes", `{"(body,isdistinct,a,t)","(body,imatch,^A,f)","(done,neq,false,f)"}`, `{"role": "service_role"}`, "*",
		nil},
	{8, "notes", `{"(secret,eq,x,f)"}`, `{"role": "authenticated"}`, "*", nil},
	{9, "notes", `{"(id,eq,x,f)"}`, `{"role": "service_role"}`, "*", nil},
	{10, "notes", `{"(id,like,1%,f)"}`, `{"role": "service_role"}`, "*", nil},
	{11, "notes", `{"(body,match,(,f)"}`, `{"role": "service_role"}`, "*", nil},
	{12, "notes", `{"(body,is,maybe,f)"}`, `{"role": "service_role"}`, "*", nil},
	{13, "notes", `{"(body,is,true,f)"}`, `{"role": "service_role"}`, "*", nil},
	{14, "notes", `{}`, `{"role": "service_role"}`, "*", `{nope}`},
	{15, "notes", `{"(body,is,null,t)"}`, `{"role": "service_role"}`, "DELETE", nil},
	{16, "notes", `{}`, `{"role": "no_such"}`, "*", nil},
	{17, "notes", `{"(id,in,\"{` + strings.Repeat("1,", 100) + `1}\",f)"}`, `{"role": "service_role"}`, "*", nil},
	{18, "notes", `{}`, `{"role": "service_role"}`, "*", `{}`},
}

const (
	walColumns = `[{"name": "id", "type": "bigint", "typeoid": 20, "value": 1}, {"name": "body", "type": "text", "typeoid": 25, "value": "a"},
		{"name": "done", "type": "boolean", "typeoid": 16, "value": true}, {"name": "owner", "type": "uuid", "typeoid": 2950, "value": null},
		{"name": "secret", "type": "text", "typeoid": 25, "value": "s"}]`
	walKey      = `[{"name": "id", "type": "bigint", "typeoid": 20}]`
	walIdentity = `[{"name": "id", "type": "bigint", "typeoid": 20, "value": 1}]`
	walHead     = `"schema": "public", "table": "notes", "timestamp": "2026-01-02 03:04:05.678901+00"`
)

var walChanges = map[string]string{
	"insert": `{"action": "I", ` + walHead + `, "columns": ` + walColumns + `, "pk": ` + walKey + `}`,
	"update": `{"action": "U", ` + walHead + `, "columns": ` + walColumns + `, "identity": ` + walIdentity +
		`, "pk": ` + walKey + `}`,
	"unchanged": `{"action": "U", ` + walHead + `, "columns": ` + walIdentity + `, "identity": ` + walColumns +
		`, "pk": ` + walKey + `}`,
	"delete":         `{"action": "D", ` + walHead + `, "identity": ` + walIdentity + `, "pk": ` + walKey + `}`,
	"delete full":    `{"action": "D", ` + walHead + `, "identity": ` + walColumns + `, "pk": ` + walKey + `}`,
	"no primary key": `{"action": "I", ` + walHead + `, "columns": ` + walColumns + `, "pk": []}`,
	"too large": `{"action": "I", ` + walHead +
		`, "columns": [{"name": "id", "type": "bigint", "typeoid": 20, "value": 1},
		{"name": "body", "type": "text", "typeoid": 25, "value": "` + strings.Repeat("a", 1200) + `"}], "pk": ` +
		walKey + `}`,
}

// walrusFacts runs the functions and returns what they return, by name of the case.
func walrusFacts(t *testing.T, d *testdb.DB) map[string][]string {
	t.Helper()
	d.Exec(walrusSetup)
	conn := d.Conn("supabase_admin")
	facts := map[string][]string{}
	for _, s := range subscriptions {
		_, err := conn.Exec(t.Context(),
			`insert into realtime.subscription (subscription_id, entity, filters, claims, action_filter, selected_columns)
			values (('00000000-0000-0000-0000-0000000000' || lpad($1::int::text, 2, '0'))::uuid, $2::text::regclass, $3::text::realtime.user_defined_filter[], $4::text::jsonb, $5, $6::text::text[])`, s...)
		message := "accepted"
		if err != nil {
			message = err.Error()
		}
		facts["subscribe"] = append(facts["subscribe"], message)
	}
	for name, change := range walChanges {
		if !json.Valid([]byte(change)) {
			t.Fatalf("%s: %s", name, change)
		}
		facts[name] = rows(t, conn,
			`select concat_ws(' ', wal, is_rls_enabled, (select array_agg(right(i::text, 2) order by i) from unnest(subscription_ids) i), errors) from realtime.apply_rls($1, 1000)`, change)
	}
	for _, call := range []string{
		`realtime.cast('\x00', 'bytea')`, `realtime.cast('{1,2}', 'int[]')`, `realtime.cast(null, 'int')`,
		`realtime.quote_wal2json('"Odd, name"'::regclass)`,
		`realtime.wal2json_escape_identifier(E'a.b\\c d,e')`, `realtime.check_equality_op('in', 'int', '1', '{1,2}')`,
		`realtime.check_equality_op('lte', 'numeric', '1.0', '1', true)`,
		`realtime.check_equality_op('eq', 'int', null, '1', true)`, `realtime.is_visible_through_filters('{}', '{}')`,
		`realtime.is_visible_through_filters(null, '{"(a,eq,1,f)"}')`,
		`realtime.build_prepared_statement_sql('s', 'notes', '{"(id,bigint,20,1,t,t)","(body,text,25,\"\"\"x\"\"\",f,t)"}') is not null`, `realtime.to_regrole('anon')`,
	} {
		facts[call] = rows(t, conn, `select coalesce((`+call+`)::text, 'null')`)
	}
	return facts
}

func rows(t *testing.T, conn *pgx.Conn, sql string, args ...any) []string {
	t.Helper()
	result, err := conn.Query(t.Context(), sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(result, pgx.RowTo[string])
	if err != nil {
		return []string{err.Error()}
	}
	return lines
}

func TestFunctionsOfTheRealRealtime(t *testing.T) {
	got := walrusFacts(t, testdb.New(t))
	text, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	compareGolden(t, "testdata/walrus.golden", string(text)+"\n")
	if diff := cmp.Diff(7+2, strings.Count(strings.Join(got["subscribe"], "\n"), "accepted")); diff != "" {
		t.Error(diff)
	}
}
