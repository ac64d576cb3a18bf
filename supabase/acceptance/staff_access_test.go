package acceptance

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"

	"github.com/jackc/pgx/v5"
)

// staffFixture adds one account per role with a session, one without a role, and rows to work on.
// The report has a photo.
const staffFixture = `
	insert into auth.users (instance_id, id, aud, role, email, raw_app_meta_data, raw_user_meta_data, created_at)
	select '00000000-0000-0000-0000-000000000000', format('00000000-0000-4000-8000-00000000000%s', n)::uuid, 'authenticated', 'authenticated',
	       x.role || '@example.org', case when x.role = 'account' then '{}' else jsonb_build_object('staff_role', x.role) end, '{}', now()
	  from unnest(array['account', 'reviewer', 'editor', 'owner']) with ordinality as x(role, n);
	insert into auth.sessions (id, user_id, created_at, aal)
	select format('10000000-0000-4000-8000-00000000000%s', right(id::text, 1))::uuid, id, now(), 'aal2' from auth.users;
	insert into auth.sessions (id, user_id, created_at, aal) values
	  ('10000000-0000-4000-8000-000000000009', '00000000-0000-4000-8000-000000000004', now() - interval '13 hours', 'aal2');
	insert into public.reports (id, reference, product_name, issue_description, name, photo_url) values
	  ('20000000-0000-4000-8000-000000000001', 'DW-0000-0001', 'cream', 'rash', 'Amina', '1700000000000.jpg'),
	  ('20000000-0000-4000-8000-000000000002', 'DW-0000-0002', 'cream', 'rash', null, null);
	insert into public.resources (id, title, category, is_active) values
	  ('30000000-0000-4000-8000-000000000001', 'shown', 'Safety', true), ('30000000-0000-4000-8000-000000000002', 'hidden', 'Safety', false);
	insert into public.guides (slug, title, category) values ('hidden-guide', 'hidden', 'Safety');
	insert into storage.objects (bucket_id, name) values ('report-photos', '1700000000000.jpg'), ('resources', 'guide.pdf');`

// staffClaims returns the claims of account n (1 without a role, 2 reviewer, 3 editor, 4 owner)
// with a session.
func staffClaims(n, session int, aal string) string {
	return fmt.Sprintf(`{"role":"authenticated","aal":%q,"sub":"00000000-0000-4000-8000-00000000000%d","session_id":"10000000-0000-4000-8000-00000000000%d"}`, aal, n, session)
}

// staffCallers are the columns of the matrix.
var staffCallers = []struct{ name, role, claims string }{
	{"anon", "anon", `{"role":"anon"}`},
	{"account", "authenticated", staffClaims(1, 1, "aal2")},
	{"reviewer aal1", "authenticated", staffClaims(2, 2, "aal1")},
	{"reviewer", "authenticated", staffClaims(2, 2, "aal2")},
	{"editor aal1", "authenticated", staffClaims(3, 3, "aal1")},
	{"editor", "authenticated", staffClaims(3, 3, "aal2")},
	{"owner aal1", "authenticated", staffClaims(4, 4, "aal1")},
	{"owner", "authenticated", staffClaims(4, 4, "aal2")},
	{"owner ended", "authenticated", staffClaims(4, 8, "aal2")},       // the session is deleted
	{"owner 13 hours", "authenticated", staffClaims(4, 9, "aal2")},    // the session is too old
	{"another's session", "authenticated", staffClaims(4, 1, "aal2")}, // a session of another account
}

// staffStatements are the rows of the matrix: every table, function and bucket of the desk. A
// statement after $read runs after the report was opened, as a download.
var staffStatements = []string{
	`select id, reference, status, product_name, region, assigned_to from reports`,
	`select name from reports`,
	`select phone from reports`,
	`select issue_description from reports`,
	`select photo_url from reports`,
	`select where_bought from reports`,
	`select reviewer_notes from reports`,
	`select idempotency_key from reports`,
	`select search_text from reports`,
	`update reports set status = 'reviewing'`,
	`update reports set assigned_to = '00000000-0000-4000-8000-000000000002'`,
	`update reports set assigned_to = '00000000-0000-4000-8000-000000000003'`,
	`update reports set duplicate_of = '20000000-0000-4000-8000-000000000001' where reference = 'DW-0000-0002'`,
	`update reports set product_name = 'x'`,
	`update reports set reviewer_notes = 'x'`,
	`select change_reports('[{"id":"20000000-0000-4000-8000-000000000001","version":1,"set":{"status":"reviewing"}}]')`,
	`select change_reports('[{"id":"20000000-0000-4000-8000-000000000001","version":1,"set":{"product_name":"x"}}]')`,
	`select change_reports('[{"id":"20000000-0000-4000-8000-000000000001","version":1,"set":{"assigned_to":"00000000-0000-4000-8000-000000000003"}}]')`,
	`select report_timeline('20000000-0000-4000-8000-000000000001')`,
	`insert into reports (product_name, issue_description) values ('a', 'b')`,
	`delete from reports`,
	`select list_reports()`,
	`select count_reports()`,
	`select read_report('DW-0000-0001')`,
	`select forward_report('DW-0000-0001')`,
	`select export_reports()`,
	`select delete_report('DW-0000-0001', 'asked for by its author')`,
	`select delete_report('DW-0000-0001', ' ')`,
	`insert into report_notes (report_id, body) values ('20000000-0000-4000-8000-000000000001', 'called')`,
	`insert into report_notes (report_id, body, author_name) values ('20000000-0000-4000-8000-000000000001', 'called', 'another')`,
	`select body from report_notes`,
	`delete from report_notes`,
	`insert into report_contacts (report_id, channel, outcome, body)
		values ('20000000-0000-4000-8000-000000000001', 'call', 'reached', 'said more')`,
	`insert into report_contacts (report_id, channel, outcome, author_name)
		values ('20000000-0000-4000-8000-000000000001', 'call', 'reached', 'another')`,
	`select channel, outcome from report_contacts`,
	`select body from report_contacts`,
	`delete from report_contacts`,
	`insert into report_notices (report_id, recipient, channel)
		values ('20000000-0000-4000-8000-000000000001', 'NMRA', 'mail')`,
	`insert into report_notices (report_id, recipient, channel, author_name)
		values ('20000000-0000-4000-8000-000000000001', 'NMRA', 'mail', 'another')`,
	`select recipient from report_notices`,
	`delete from report_notices`,
	`select export_cases('{20000000-0000-4000-8000-000000000001}')`,
	`select link_reports('20000000-0000-4000-8000-000000000001', '{20000000-0000-4000-8000-000000000002}')`,
	`select related_reports('20000000-0000-4000-8000-000000000001')`,
	`select report_clusters()`,
	`select * from private.linked_reports`,
	`select id from resources where not is_active`,
	`select slug from guides`,
	`insert into guides (slug, title, category) values ('new', 'New', 'Safety')`,
	`insert into guides (slug, title, category, reviewed_by) values ('new', 'New', 'Safety', 'another')`,
	`update guides set title = 'x'`,
	`update guides set reviewed_on = '2026-01-01'`,
	`delete from guides`,
	`select review_guide('hidden-guide', 1, 'Pharmacist', '2099-01-01')`,
	`select * from resource_versions`,
	`delete from resource_versions`,
	`insert into resources (title, category, is_active) values ('a', 'b', false)`,
	`update resources set is_active = true`,
	`update resources set download_count = 9`,
	`delete from resources`,
	`select move_resource('30000000-0000-4000-8000-000000000001', true)`,
	`select * from storage.objects where bucket_id = 'report-photos'`,
	`$read select * from storage.objects where bucket_id = 'report-photos'`,
	`select * from storage.objects where bucket_id = 'resources'`,
	`insert into storage.objects (bucket_id, name) values ('resources', 'b.pdf')`,
	`update storage.objects set metadata = '{}' where bucket_id = 'resources'`,
	`update storage.objects set metadata = '{}' where bucket_id = 'report-photos'`,
	`select my_staff_access()`,
	`select staff_members()`,
	`select set_staff_role('00000000-0000-4000-8000-000000000001', 'reviewer')`,
	`select set_staff_role('00000000-0000-4000-8000-000000000004', null)`,
	`select end_staff_sessions('00000000-0000-4000-8000-000000000002')`,
	`select remove_staff_factors('00000000-0000-4000-8000-000000000002')`,
	`select trail_invitation('new@example.org', 'editor')`,
	`select * from staff_trail`,
	`insert into staff_trail (actor_name, action, subject) values ('a', 'read', 'report')`,
	`update staff_trail set actor_name = 'another'`,
	`delete from staff_trail`,
	`truncate staff_trail`,
	`select report_figures()`,
	`select download_figures()`,
	`select system_state()`,
	`select retry_job(1)`,
	`select trail_operation('doctor')`,
	`select private.write_trail('read', 'report', null, null)`,
	`select * from private.installation`,
	`insert into private.installation values ('public', 'false')`,
	`select * from private.photos_to_remove`,
	`select * from private.secrets`,
	`select * from private.daily_salts`,
	`select * from private.idempotency_keys`,
	`select * from private.waiting_photos`,
	`select * from private.waiting_photo_totals`,
	`select * from private.request_limits`,
	`select * from new_reports`,
	`select * from downloads_per_day`,
	`select * from downloads_by_month`,
	`select * from auth.users`,
}

// TestStaffAccess compares what every kind of caller can do with the tables, functions and buckets
// of the desk with a reviewed file: on a public address, and on a local one, where a second factor
// is optional until an account has one.
func TestStaffAccess(t *testing.T) {
	tdb := newDatabase(t)
	tdb.ExecAs("supabase_admin", staffFixture)
	conn := tdb.Conn("postgres")
	var b strings.Builder
	for _, public := range []string{"true", "false"} {
		tdb.Exec(`insert into private.installation values ('public', '` + public +
			`') on conflict (name) do update set value = excluded.value`)
		fmt.Fprintf(&b, "public address: %s\n", public)
		for _, c := range staffCallers {
			fmt.Fprintf(&b, "%-18s", c.name)
		}
		b.WriteByte('\n')
		for _, statement := range staffStatements {
			fmt.Fprintf(&b, "%s\n", statement)
			for _, c := range staffCallers {
				fmt.Fprintf(&b, "%-18s", attemptAs(t, conn, c.role, c.claims, statement))
			}
			b.WriteByte('\n')
		}
	}
	compareGolden(t, "testdata/staff-access.golden", b.String())
	checkMatrixComplete(t, tdb)
}

// checkMatrixComplete checks that each table of public and private and each function that an API
// role may call has a row in the matrix.
func checkMatrixComplete(t *testing.T, tdb *testdb.DB) {
	t.Helper()
	names := testdb.Value[[]string](tdb, `
		select array_agg(name order by name) from (
		  select distinct p.proname::text as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
		   where n.nspname = 'public' and p.prorettype <> 'trigger'::regtype
		     and (has_function_privilege('anon', p.oid, 'execute') or has_function_privilege('authenticated', p.oid, 'execute'))
		  union
		  select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
		   where n.nspname in ('public', 'private') and c.relkind in ('r', 'p', 'v', 'm')) as x`)
	matrix := strings.Join(staffStatements, "\n")
	for _, name := range names {
		if !regexp.MustCompile(`\b` + name + `\b`).MatchString(matrix) {
			t.Errorf("%s has no row in the matrix", name)
		}
	}
}

// attemptAs runs a statement in a transaction that it rolls back, and returns the number of rows or
// the SQLSTATE.
func attemptAs(t *testing.T, conn *pgx.Conn, role, claims, statement string) string {
	t.Helper()
	ctx := context.Background()
	tx, err := conn.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(ctx)
	if _, err := tx.Exec(ctx, `select set_config('request.jwt.claims', $1, true), set_config('role', $2, true)`, claims,
		role); err != nil {
		t.Fatal(err)
	}
	if rest, ok := strings.CutPrefix(statement, "$read "); ok {
		if _, err := tx.Exec(ctx, `select read_report('DW-0000-0001'),
			set_config('storage.operation', 'storage.object.get_authenticated', true)`); err != nil {
			return stateOf(err)
		}
		statement = rest
	}
	tag, err := tx.Exec(ctx, statement)
	if err != nil {
		return stateOf(err)
	}
	return fmt.Sprint(tag.RowsAffected())
}

func stateOf(err error) string {
	if pg, ok := pool.AsPgError(err); ok {
		return pg.Code
	}
	return err.Error()
}

// as runs a statement as a caller and commits it.
func as(t *testing.T, conn *pgx.Conn, role, claims, statement string, args ...any) error {
	t.Helper()
	return pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(),
			`select set_config('request.jwt.claims', $1, true), set_config('role', $2, true)`, claims,
			role); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), statement, args...)
		return err
	})
}

// TestStaffRoleNeedsFactor checks that on a local address an account that has a second factor must
// use it.
func TestStaffRoleNeedsFactor(t *testing.T) {
	tdb := newDatabase(t)
	tdb.ExecAs("supabase_admin", staffFixture+`
		insert into private.installation values ('public', 'false');
		insert into auth.mfa_factors (id, user_id, factor_type, status, created_at, updated_at) values
		  (gen_random_uuid(), '00000000-0000-4000-8000-000000000002', 'totp', 'verified', now(), now())`)
	conn := tdb.Conn("postgres")
	for aal, want := range map[string]string{"aal1": "42501", "aal2": "1"} {
		if got := attemptAs(t, conn, "authenticated", staffClaims(2, 2, aal), `select count_reports()`); got != want {
			t.Errorf("%s: %s, want %s", aal, got, want)
		}
	}
}

// TestStaffRemoval checks that a removed member loses access in the same moment with an unexpired
// token, and that the last owner stays.
func TestStaffRemoval(t *testing.T) {
	tdb := newDatabase(t)
	tdb.ExecAs("supabase_admin", staffFixture)
	conn := tdb.Conn("postgres")
	owner, reviewer := staffClaims(4, 4, "aal2"), staffClaims(2, 2, "aal2")
	if err := as(t, conn, "authenticated", reviewer, `select list_reports()`); err != nil {
		t.Fatal(err)
	}
	if err := as(t, conn, "authenticated", owner,
		`select set_staff_role('00000000-0000-4000-8000-000000000002', null)`); err != nil {
		t.Fatal(err)
	}
	if err := as(t, conn, "authenticated", reviewer, `select list_reports()`); err == nil || stateOf(err) != "42501" {
		t.Errorf("a removed member: %v", err)
	}
	if n := testdb.Value[int](tdb,
		`select count(*)::int from auth.sessions where user_id = '00000000-0000-4000-8000-000000000002'`); n != 0 {
		t.Errorf("a removed member has %d sessions", n)
	}
	for _, q := range []string{
		`select set_staff_role('00000000-0000-4000-8000-000000000004', null)`,
		`select set_staff_role('00000000-0000-4000-8000-000000000004', 'editor')`,
	} {
		if err := as(t, conn, "authenticated", owner, q); err == nil || stateOf(err) != "23514" {
			t.Errorf("the last owner: %s: %v", q, err)
		}
	}
	if err := as(t, conn, "authenticated", owner,
		`select set_staff_role('00000000-0000-4000-8000-000000000001', 'owner')`); err != nil {
		t.Fatal(err)
	}
	if err := as(t, conn, "authenticated", owner,
		`select set_staff_role('00000000-0000-4000-8000-000000000004', null)`); err != nil {
		t.Errorf("an owner leaves: %v", err)
	}
	if got := testdb.Value[string](tdb,
		`select string_agg(action || ' ' || subject_name || ' ' || detail, '; ' order by id) from staff_trail where subject = 'staff' and actor is not null`); got !=
		`remove reviewer@example.org {"from": "reviewer"}; role account@example.org {"to": "owner"}; remove owner@example.org {"from": "owner"}` {
		t.Error(got)
	}
}

// TestStaffFactorsRemoved checks that an owner removes the second factors of a member, that the
// member's sessions end, and that the trail tells it.
func TestStaffFactorsRemoved(t *testing.T) {
	tdb := newDatabase(t)
	tdb.ExecAs("supabase_admin", staffFixture)
	tdb.ExecAs("supabase_admin", `
		insert into auth.mfa_factors (id, user_id, factor_type, status, secret, created_at, updated_at)
		select gen_random_uuid(), id, 'totp', 'verified', 'x', now(), now() from auth.users where email in ('reviewer@example.org', 'editor@example.org')`)
	conn := tdb.Conn("postgres")
	owner := staffClaims(4, 4, "aal2")
	if err := as(t, conn, "authenticated", owner,
		`select remove_staff_factors('00000000-0000-4000-8000-000000000002')`); err != nil {
		t.Fatal(err)
	}
	if got := testdb.Value[string](tdb,
		`select string_agg(u.email, ' ') from auth.mfa_factors f join auth.users u on u.id = f.user_id`); got != "editor@example.org" {
		t.Errorf("factors are left of %s", got)
	}
	if n := testdb.Value[int](tdb,
		`select count(*)::int from auth.sessions where user_id = '00000000-0000-4000-8000-000000000002'`); n != 0 {
		t.Errorf("the member has %d sessions", n)
	}
	if got := testdb.Value[string](tdb,
		`select action || ' ' || subject_name || ' ' || detail from staff_trail where subject = 'staff' and actor is not null`); got !=
		`change reviewer@example.org {"factors_removed": 1}` {
		t.Error(got)
	}
	for _, id := range []string{"00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000099"} {
		if err := as(t, conn, "authenticated", owner, `select remove_staff_factors('`+id+`')`); err == nil ||
			stateOf(err) != "PT404" {
			t.Errorf("%s, who is no member: %v", id, err)
		}
	}
}
