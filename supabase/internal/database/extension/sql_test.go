package extension_test

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"daawo/supabase/internal/database/server"
	"daawo/supabase/internal/database/testdb"

	"github.com/jackc/pgx/v5"
)

// refused returns a function that fails the test if a statement succeeds or fails for another
// reason.
func refused(t *testing.T, conn *pgx.Conn) func(sql, reason string) {
	return func(sql, reason string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: got %v, want %q", sql, err, reason)
		}
	}
}

// value runs a query as postgres, which is no superuser, and returns its value.
func value[T any](t *testing.T, d *testdb.DB, sql string, args ...any) (v T) {
	t.Helper()
	if err := d.Conn("postgres").QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func TestCronFunctions(t *testing.T) {
	d := testdb.New(t)
	cronHere(d)
	conn := d.Conn("postgres")
	fails := refused(t, conn)
	id := value[int](t, d, `select cron.schedule('0 0 * * *', 'select 1')::int`)
	named := value[int](t, d, `select cron.schedule('nightly', '0 0 * * *', 'select 1')::int`)
	if again := value[int](t, d, `select cron.schedule('nightly', '5 0 $ * *', 'select 2')::int`); again != named {
		t.Errorf("the same name is job %d and job %d", named, again)
	}
	row := func(id int) string {
		return value[string](t, d, `
			select concat_ws('|', schedule, command, nodename, nodeport, database = current_database(), username, active, jobname)
			from cron.job where jobid = $1`, id)
	}
	if got := row(named); got != "5 0 $ * *|select 2|localhost|5432|t|postgres|t|nightly" {
		t.Error(got)
	}
	d.Exec(`select cron.alter_job($1, schedule := '30 seconds', active := false)`, named)
	if got := row(named); got != "30 seconds|select 2|localhost|5432|t|postgres|f|nightly" {
		t.Error(got)
	}
	other := value[int](t, d, `select cron.schedule_in_database('elsewhere', '@daily', 'vacuum', 'template1')::int`)
	if got := row(other); got != "@daily|vacuum|localhost|5432|f|postgres|t|elsewhere" {
		t.Error(got)
	}
	fails(`select cron.schedule('x', 'every day', 'select 1')`, "invalid schedule: every day")
	fails(`select cron.schedule(null, '* * * * *', 'select 1')`, "job_name can not be NULL")
	fails(`select cron.schedule('x', null, 'select 1')`, "schedule can not be NULL")
	fails(`select cron.schedule('x', '* * * * *', null)`, "command can not be NULL")
	fails(`select cron.alter_job(1)`, "no updates specified")
	fails(`select cron.alter_job(99, command := 'x')`, "Job 99 does not exist or you don't own it")
	fails(`select cron.unschedule('nothing')`, "could not find valid entry for job 'nothing'")
	fails(`select cron.unschedule(99)`, "could not find valid entry for job 99")
	fails(`select cron.schedule_in_database('x', '@daily', 'x', 'no_such')`, "no_such")
	d.Exec(`select cron.unschedule($1::bigint)`, id)
	d.Exec(`select cron.unschedule('nightly'), cron.unschedule('elsewhere')`)
	if n := value[int](t, d, `select count(*)::int from cron.job`); n != 0 {
		t.Errorf("%d jobs remain", n)
	}
}

// No role may schedule as another role, change another role's job, or avoid the check.
func TestCronKeepsRolesApart(t *testing.T) {
	d := testdb.New(t)
	cronHere(d)
	d.Exec(`grant usage on schema cron to service_role, authenticated`)
	d.Exec(`select cron.schedule('mine', '@daily', 'select 1')`)
	d.ExecAs("supabase_admin",
		`insert into cron.job (jobname, schedule, command, username) values ('admin', '@daily', 'select 1', 'supabase_admin')`)
	conn := d.Conn("postgres")
	fails := refused(t, conn)
	for _, setup := range []string{`set role service_role`, `reset role`, `set session_replication_role = replica`} {
		if _, err := conn.Exec(t.Context(), setup); err != nil {
			t.Fatal(err)
		}
		fails(`insert into cron.job (schedule, command, username) values ('@daily', 'x', 'supabase_admin')`,
			"must be superuser to create a job for another role")
		fails(`update cron.job set command = 'x' where username = 'supabase_admin'`, "don't own it")
		fails(`update cron.job set username = 'supabase_admin' where jobname = 'mine'`, "job")
		fails(`delete from cron.job where username = 'supabase_admin'`, "don't own it")
		fails(`truncate cron.job`, "permission denied")
		fails(`insert into cron.job_run_details (jobid) values (1)`, "permission denied")
	}
	if _, err := conn.Exec(t.Context(), `reset session_replication_role; set role service_role`); err != nil {
		t.Fatal(err)
	}
	fails(`select cron.schedule_in_database('x', '@daily', 'x', 'template1')`, "permission denied")
	fails(`insert into cron.job (schedule, command, database) values ('@daily', 'x', 'template1')`, "permission denied")
	fails(`select cron.alter_job(1, command := 'x')`, "permission denied")
	if _, err := conn.Exec(t.Context(), `set role authenticated`); err != nil {
		t.Fatal(err)
	}
	var visible int
	if err := conn.QueryRow(t.Context(), `select count(*)::int from cron.job`).Scan(&visible); err != nil ||
		visible != 0 {
		t.Errorf("authenticated sees %d jobs of others, %v", visible, err)
	}
	// A function of postgres schedules as postgres for any caller, as with pg_cron in C.
	d.Exec(`create function plan() returns bigint language sql security definer as $$ select cron.schedule('planned', '@daily', 'select 1') $$`)
	if _, err := conn.Exec(t.Context(), `select plan()`); err != nil {
		t.Error(err)
	}
	if by := value[string](t, d, `select username from cron.job where jobname = 'planned'`); by != "postgres" {
		t.Errorf("scheduled as %s", by)
	}
}

// The worker never runs a command as a superuser, even if the table says so.
func TestCronRefusesSuperuser(t *testing.T) {
	d := testdb.New(t)
	cronHere(d)
	startWorkers(t, d, everything, nil)
	d.ExecAs("supabase_admin",
		`insert into cron.job (jobname, schedule, command, username) values ('admin', '1 second', 'create table public.taken ()', 'supabase_admin')`)
	await(t, d, "cannot run jobs as superuser",
		`select coalesce((select return_message from cron.job_run_details where status = 'failed' limit 1), '')`)
	if got := value[bool](t, d, `select to_regclass('public.taken') is null`); !got {
		t.Error("the command ran")
	}
}

func TestVault(t *testing.T) {
	d := testdb.New(t)
	id := value[string](t, d, `select vault.create_secret('s3cret ✓', 'token', 'of the mail service')::text`)
	if stored := value[string](t, d, `select secret from vault.secrets where id = $1`, id); strings.Contains(stored,
		"s3cret") || len(stored) < 60 {
		t.Errorf("stored as %q", stored)
	}
	read := func() string {
		return value[string](t, d,
			`select concat_ws('|', name, description, decrypted_secret) from vault.decrypted_secrets where id = $1`, id)
	}
	if got := read(); got != "token|of the mail service|s3cret ✓" {
		t.Error(got)
	}
	before := value[string](t, d, `select encode(nonce, 'hex') from vault.secrets`)
	d.Exec(`select vault.update_secret($1, 'new', 'name')`, id)
	if got := read(); got != "name|of the mail service|new" {
		t.Error(got)
	}
	if after := value[string](t, d, `select encode(nonce, 'hex') from vault.secrets`); after == before {
		t.Error("the nonce was used for two texts")
	}
	d.Exec(`select vault.update_secret($1, new_description := 'd')`, id)
	if got := read(); got != "name|d|new" {
		t.Error(got)
	}
	d.Exec(`select vault.create_secret('', 'empty')`)
	conn := d.Conn("postgres")
	fails := refused(t, conn)
	fails(`select vault.create_secret('x', 'name')`, "duplicate key")
	fails(`insert into vault.secrets (secret) values ('plain')`, "permission denied")
	fails(`select vault._derived_key(0, 'pgsodium')`, "permission denied")
	// Rows that were exchanged or changed do not decrypt.
	d.ExecAs("supabase_admin",
		`update vault.secrets s set secret = o.secret, nonce = o.nonce from vault.secrets o where s.name = 'empty' and o.name = 'name'`)
	fails(`select decrypted_secret from vault.decrypted_secrets where name = 'empty'`, "cannot be decrypted")
	for role, allowed := range map[string]bool{"service_role": true, "authenticated": false, "anon": false} {
		_, err := conn.Exec(t.Context(), `begin; set local role `+role+
			`; select decrypted_secret from vault.decrypted_secrets where name = 'name'; commit`)
		if (err == nil) != allowed {
			t.Errorf("%s: %v", role, err)
		}
		conn.Exec(t.Context(), `rollback`)
	}
	key, err := os.ReadFile(server.VaultKeyFile(testdb.Server(t).Data()))
	if err != nil || len(strings.TrimSpace(string(key))) != 128 {
		t.Errorf("key file: %d bytes, %v", len(key), err)
	}
}

// The test case of RFC 7518, B.3.
func TestVaultCipher(t *testing.T) {
	d := testdb.New(t)
	key := make([]byte, 64)
	for i := range key {
		key[i] = byte(i)
	}
	plain := "A cipher system must not be required to be secret, and it must be able to fall into the hands of the enemy without inconvenience"
	nonce, _ := hex.DecodeString("1af38c2dc2b96ffdd86694092341bc04")
	additional := "The second principle of Auguste Kerckhoffs"
	const begin, tag = "4affaaadb78c31c5da4b1b590d10ffbd",
		"4dd3b4c088a7f45c216839645b2012bf2e6269a8c56a816dbc1b267761955bc5"
	conn := d.Conn("supabase_admin")
	var sealed []byte
	if err := conn.QueryRow(t.Context(), `select vault._seal($1, $2, $3, $4)`, key, nonce, []byte(plain),
		[]byte(additional)).Scan(&sealed); err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(sealed); !strings.HasPrefix(got, begin) || !strings.HasSuffix(got, tag) {
		t.Errorf("sealed %s", got)
	}
	var opened []byte
	if err := conn.QueryRow(t.Context(), `select vault._open($1, $2, $3, $4)`, key, nonce, sealed,
		[]byte(additional)).Scan(&opened); err != nil || string(opened) != plain {
		t.Errorf("opened %q, %v", opened, err)
	}
	for i := range sealed {
		sealed[i] ^= 1
		if _, err := conn.Exec(t.Context(), `select vault._open($1, $2, $3, $4)`, key, nonce, sealed,
			[]byte(additional)); err == nil {
			t.Fatalf("byte %d may change", i)
		}
		sealed[i] ^= 1
	}
}

func TestQueues(t *testing.T) {
	d := testdb.New(t)
	d.Exec(`create extension pgmq`)
	d.Exec(`select pgmq.create('Jobs'), pgmq.create('Jobs'), pgmq.create_unlogged('fast'), pgmq.create_partitioned('parts', '1 day', '7 days')`)
	if got := value[string](t, d,
		`select string_agg(queue_name || is_partitioned || is_unlogged, ' ' order by queue_name collate "C") from pgmq.list_queues()`); got != "Jobsfalsefalse fastfalsetrue partsfalsefalse" {
		t.Error(got)
	}
	for _, c := range []struct{ sql, want string }{
		{`select string_agg(id::text, ',') from pgmq.send('Jobs', '{"n": 1}') id`, "1"},
		{`select string_agg(id::text, ',') from pgmq.send('Jobs', '{"n": 2}', '{"h": true}'::jsonb) id`, "2"},
		{`select string_agg(id::text, ',') from pgmq.send('Jobs', '{"n": 3}', 3600) id`, "3"},
		{`select string_agg(id::text, ',') from pgmq.send('Jobs', '{"n": 4}', now() - interval '1 s') id`, "4"},
		{`select string_agg(id::text, ',') from pgmq.send('Jobs', '{"n": 5}', '{"h": 5}'::jsonb, 0) id`, "5"},
		{`select string_agg(id::text, ',') from pgmq.send_batch('Jobs', array['{"n": 6}', '{"n": 7}']::jsonb[]) id`,
			"6,7"},
		{`select string_agg(id::text, ',') from pgmq.send_batch('Jobs', array['{"n": 8}', '{"n": 9}']::jsonb[], array['{"h": 8}']::jsonb[]) id`, "8,9"},
		{`select string_agg(id::text, ',') from pgmq.send_batch('Jobs', array['{"n": 10}']::jsonb[], 3600) id`, "10"},
		{`select string_agg(msg_id || ':' || read_ct || coalesce(headers::text, ''), ',') from pgmq.read('Jobs', 30, 2)`, `1:1,2:1{"h": true}`},
		{`select string_agg(msg_id::text, ',') from pgmq.read('Jobs', 30, 9, '{"n": 7}')`, "7"},
		{`select string_agg(msg_id::text, ',') from pgmq.read('Jobs', 0, 1)`, "4"},
		{`select string_agg(msg_id || ':' || read_ct, ',') from pgmq.read_with_poll('Jobs', 30, 1, 1, 10)`, "4:2"},
		{`select coalesce(string_agg(msg_id::text, ','), 'none') from pgmq.read_with_poll('Jobs', 30, 1, 1, 10, '{"n": 99}')`, "none"},
		{`select msg_id || message::text from pgmq.pop('Jobs')`, `5{"n": 5}`},
		{`select (vt > now() + interval '50 s')::text from pgmq.set_vt('Jobs', 6, 60)`, "true"},
		{`select pgmq.archive('Jobs', 1)::text || pgmq.archive('Jobs', 1)::text`, "truefalse"},
		{`select string_agg(id::text, ',') from pgmq.archive('Jobs', array[2, 77]) id`, "2"},
		{`select pgmq.delete('Jobs', 4)::text || pgmq.delete('Jobs', 4)::text`, "truefalse"},
		{`select string_agg(id::text, ',') from pgmq.delete('Jobs', array[6, 77]) id`, "6"},
		{`select string_agg(msg_id::text, ',' order by msg_id) from pgmq.a_jobs where archived_at is not null`, "1,2"},
		{`select queue_length || ',' || total_messages || ',' || queue_visible_length || ',' || (oldest_msg_age_sec >= 0) from pgmq.metrics('Jobs')`, "5,10,2,true"},
		{`select string_agg(queue_name || queue_length, ' ' order by queue_name collate "C") from pgmq.metrics_all()`,
			"Jobs5 fast0 parts0"},
		{`select pgmq.purge_queue('Jobs')::text`, "5"},
		{`select pgmq.drop_queue('fast')::text || pgmq.drop_queue('fast')::text || pgmq.drop_queue('parts')::text`,
			"truefalsetrue"},
		{`select string_agg(queue_name, ',') from pgmq.list_queues()`, "Jobs"},
	} {
		if got := value[string](t, d, c.sql); got != c.want {
			t.Errorf("%s: got %s, want %s", c.sql, got, c.want)
		}
	}
	fails := refused(t, d.Conn("postgres"))
	fails(`select pgmq.create('a;b')`, "invalid characters")
	fails(`select pgmq.create(repeat('x', 48))`, "too long")
	fails(`select pgmq.send('nothing', '{}')`, "does not exist")
}

// `supabase db reset` drops the extension and creates it again. No queue may remain.
func TestDropExtensionDropsQueues(t *testing.T) {
	d := testdb.New(t)
	for range 2 {
		d.Exec(`create extension pgmq; select pgmq.create('work'); create table pgmq.other ()`)
		if n := value[int](t, d, `select count(*)::int from pgmq.q_work`); n != 0 {
			t.Errorf("%d messages remain", n)
		}
		d.Exec(`select pgmq.send('work', '{}'); drop extension pgmq cascade`)
		if got := value[string](t, d,
			`select string_agg(relname, ',') from pg_class where relnamespace = 'pgmq'::regnamespace and relkind = 'r'`); got != "other" {
			t.Errorf("tables %s remain", got)
		}
		d.Exec(`drop table pgmq.other`)
	}
}

// Two readers never get the same message.
func TestQueueReadersDoNotShare(t *testing.T) {
	d := testdb.New(t)
	d.Exec(`create extension pgmq; select pgmq.create('q')`)
	d.Exec(`select pgmq.send_batch('q', array_agg(jsonb_build_object('n', n))) from generate_series(1, 4) n`)
	one, two := d.Conn("postgres"), d.Conn("postgres")
	first, err := one.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer first.Rollback(t.Context())
	var a, b string
	const sql = `select string_agg(msg_id::text, ',') from pgmq.read('q', 30, 3)`
	if err := first.QueryRow(t.Context(), sql).Scan(&a); err != nil {
		t.Fatal(err)
	}
	if err := two.QueryRow(t.Context(), sql).Scan(&b); err != nil || a != "1,2,3" || b != "4" {
		t.Errorf("readers got %s and %s, %v", a, b, err)
	}
}

// The token of RFC 7515, A.1, and the example of jwt.io.
func TestJWT(t *testing.T) {
	d := testdb.New(t)
	d.Exec(`create extension pgjwt with schema extensions`)
	const token = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiYWRtaW4iOnRydWV9.TJVA95OrM7E2cBab30RMHrHDcEfxjoYZgeFONFh7HgQ"
	if got := value[string](t, d,
		`select extensions.sign('{"sub":"1234567890","name":"John Doe","admin":true}', 'secret')`); got != token {
		t.Error(got)
	}
	for _, c := range []struct{ sql, want string }{
		{`select valid || (payload ->> 'name') || (header ->> 'alg') from extensions.verify($1, 'secret')`,
			"trueJohn DoeHS256"},
		{`select valid::text from extensions.verify($1, 'other')`, "false"},
		{`select string_agg(v.valid::text, ',' order by a) from unnest(array['HS256', 'HS384', 'HS512']) a,
			lateral extensions.verify(extensions.sign('{"a": 1}', 'k', a), 'k', a) v where $1 <> ''`, "true,true,true"},
		{`select string_agg(v.valid::text, ',' order by n) from unnest(array[-10, 10]) n,
			lateral extensions.verify(extensions.sign(json_build_object('exp', extract(epoch from now()) + n), 'k'), 'k') v where $1 <> ''`, "false,true"},
		{`select valid::text from extensions.verify(extensions.sign('{"exp": "never"}', 'k'), 'k') where $1 <> ''`,
			"true"},
	} {
		if got := value[string](t, d, c.sql, token); got != c.want {
			t.Errorf("%s: got %s, want %s", c.sql, got, c.want)
		}
	}
}
