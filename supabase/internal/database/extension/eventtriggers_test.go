package extension_test

import (
	"slices"
	"strings"
	"testing"

	"daawo/supabase/internal/database/server"
	"daawo/supabase/internal/database/testdb"

	"github.com/jackc/pgx/v5"
)

// needEventTriggers skips the test if the build could not compile the library.
func needEventTriggers(t *testing.T, d *testdb.DB) {
	t.Helper()
	loaded := testdb.Value[string](d, `select setting from pg_settings where name = 'shared_preload_libraries'`)
	if !slices.Contains(strings.Split(loaded, ","), server.EventTriggers) {
		t.Skip(server.WhyAbsent(".", server.EventTriggers))
	}
}

// TestEventTriggers turns on row level security for new tables, as projects on Supabase do.
func TestEventTriggers(t *testing.T) {
	d := testdb.New(t)
	needEventTriggers(t, d)
	d.Exec(`
		create function public.protect() returns event_trigger language plpgsql
			security definer set search_path = pg_catalog as $$
		declare
			command record;
		begin
			for command in select * from pg_event_trigger_ddl_commands() where object_type = 'table' loop
				execute format('alter table %s enable row level security', command.object_identity);
			end loop;
		end $$;
		do $$ begin
			if not exists (select from pg_event_trigger where evtname = 'protect') then
				create event trigger protect on ddl_command_end when tag in ('CREATE TABLE') execute function protect();
			end if;
		end $$;
		alter event trigger protect owner to postgres;
		create table public.notes (id int)`)
	protected := func(table string) bool {
		return testdb.Value[bool](d, `select relrowsecurity from pg_class where oid = $1::text::regclass`, "public."+table)
	}
	if !protected("notes") {
		t.Error("the trigger did not run")
	}
	d.Exec(`alter event trigger protect disable; create table public.open (id int)`)
	if protected("open") {
		t.Error("the disabled trigger ran")
	}
	d.Exec(`alter event trigger protect enable; alter event trigger protect rename to guard; drop event trigger guard`)

	// As in a dump.
	d.ExecAs(server.Superuser, `create event trigger restored on ddl_command_end execute function public.protect();
		alter event trigger restored owner to postgres`)
	owner := `select evtowner::regrole::text from pg_event_trigger where evtname = 'restored'`
	if got := testdb.Value[string](d, owner); got != "postgres" {
		t.Errorf("the owner is %s", got)
	}
	d.Exec(`drop event trigger restored`)
}

// TestEventTriggersKeepRights checks that no function of postgres runs for a role with more rights.
func TestEventTriggersKeepRights(t *testing.T) {
	d := testdb.New(t)
	needEventTriggers(t, d)
	d.Exec(`
		create table public.calls (role text, session text);
		create function public.observe() returns event_trigger language plpgsql as $$
		begin
			insert into public.calls values (current_user, session_user);
			if current_setting('is_superuser') = 'on' then
				alter role postgres superuser;
			end if;
		end $$;
		create function public.observe_as_owner() returns event_trigger language plpgsql security definer as $$
		begin
			insert into public.calls values ('owner', session_user);
			perform set_config('search_path', 'public', false);
		end $$`)
	for _, event := range []string{"ddl_command_start", "ddl_command_end"} {
		d.Exec(`create event trigger one_` + event + ` on ` + event + ` execute function public.observe();
			create event trigger two_` + event + ` on ` + event + ` execute function public.observe_as_owner()`)
	}
	calls := func() []string {
		return testdb.Value[[]string](d, `with gone as (delete from public.calls returning *)
			select coalesce(array_agg(distinct role || ' in ' || session order by role || ' in ' || session), '{}') from gone`)
	}
	for _, c := range []struct {
		what, login, statements string
		want                    []string
	}{
		{"a superuser's statement", server.Superuser, `create table public.a (id int)`, nil},
		{"a superuser as postgres", server.Superuser, `set role postgres; create table public.b (id int)`, nil},
		{"a script of a trusted extension", "postgres", `create extension hstore`,
			[]string{"owner in postgres", "postgres in postgres"}},
		{"another role", "postgres", `grant create on schema public to anon; set role anon; create table public.c (id int)`,
			[]string{"anon in postgres", "owner in postgres", "postgres in postgres"}},
	} {
		d.ExecAs(c.login, c.statements)
		if got := calls(); !slices.Equal(got, c.want) {
			t.Errorf("%s: the functions ran for %q, want %q", c.what, got, c.want)
		}
	}
	// The body may change later.
	d.Exec(`alter function public.observe_as_owner() security invoker`)
	calls()
	d.ExecAs(server.Superuser, `create table public.d (id int)`)
	if got := calls(); len(got) > 0 {
		t.Errorf("after a change of the function: %q", got)
	}
	if testdb.Value[bool](d, `select rolsuper from pg_roles where rolname = 'postgres'`) {
		t.Error("postgres became a superuser")
	}
}

func TestEventTriggersRefused(t *testing.T) {
	d := testdb.New(t)
	needEventTriggers(t, d)
	d.ExecAs(server.Superuser, `create function public.theirs() returns event_trigger language plpgsql as 'begin end';
		create event trigger theirs on sql_drop execute function public.theirs()`)
	d.Exec(`create function public.mine() returns event_trigger language plpgsql as 'begin end';
		create function public.plain() returns int language sql as 'select 1';
		grant create on schema public to anon`)
	fails := refused(t, d.Conn("postgres"))
	fails(`create event trigger t on login execute function public.mine()`, "permission denied")
	fails(`create event trigger t on sql_drop execute function public.theirs()`, "must be owner of function theirs")
	fails(`create event trigger t on sql_drop execute function public.missing()`, "does not exist")
	fails(`create event trigger t on sql_drop execute function public.plain()`, "must return type event_trigger")
	fails(`drop event trigger theirs`, "must be owner")
	fails(`alter event trigger theirs owner to postgres`, "must be owner")
	asAnon := func(conn *pgx.Conn) *pgx.Conn {
		if _, err := conn.Exec(t.Context(), `set role anon`); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	fails = refused(t, asAnon(d.Conn("postgres")))
	fails(`create event trigger t on sql_drop execute function public.mine()`, "permission denied")
}
