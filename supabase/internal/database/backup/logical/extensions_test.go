package logical

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"daawo/supabase/internal/database/testdb"
)

// An export has jobs, queues with their messages, and secrets, and another installation reads the
// secrets with its own key.
func TestTransferExtensions(t *testing.T) {
	from, to := migrated(t), migrated(t)
	for _, db := range []*testdb.DB{from, to} {
		db.ExecAs("supabase_admin", `alter database `+db.Name+` set cron.database_name = `+db.Name)
		db.Exec(`create extension pg_cron; create extension pgmq; select pgmq.create('both')`)
		db.Exec(`select cron.schedule('of the migrations', '@daily', 'select 0')`)
	}
	from.Exec(`
		select cron.schedule('nightly', '0 0 * * *', 'select 1');
		select pgmq.create_unlogged('fast'), pgmq.create('Later');
		select pgmq.send('both', '{"n": 1}'), pgmq.send('both', '{"n": 2}'), pgmq.send('Later', '{"n": 3}');
		select pgmq.archive('both', 1);
		select vault.create_secret('s3cret', 'token', 'a description');`)
	to.Exec(`select vault.create_secret('old', 'gone'); select pgmq.send('both', '{"n": 9}')`)
	data := export(t, from, &memory{})
	before := testdb.Value[string](from, `select secret from vault.secrets`)
	if _, err := Import(t.Context(), ImportOptions{URL: to.URL("supabase_admin"),
		Files: &memory{data: map[string]string{}}}, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ sql, want string }{
		{`select string_agg(jobname || schedule || username, ',' order by jobid) from cron.job`,
			"of the migrations@dailypostgres,nightly0 0 * * *postgres"},
		{`select cron.schedule('next', '@daily', 'x')::text`, "3"},
		{`select string_agg(queue_name || is_unlogged, ',' order by queue_name collate "C") from pgmq.list_queues()`,
			"Laterfalse,bothfalse,fasttrue"},
		{`select string_agg(tableowner, ',') from pg_tables where tablename = 'q_later'`, "postgres"},
		{`select string_agg(message::text, ',') from pgmq.q_both`, `{"n": 2}`},
		{`select string_agg(message::text, ',') from pgmq.a_both`, `{"n": 1}`},
		{`select message::text from pgmq.read('Later', 0, 1)`, `{"n": 3}`},
		{`select id::text from pgmq.send('both', '{}') id`, "3"},
		{`select string_agg(name || description || decrypted_secret, ',') from vault.decrypted_secrets`,
			"tokena descriptions3cret"},
	} {
		if got := testdb.Value[string](to, c.sql); got != c.want {
			t.Errorf("%s: got %s, want %s", c.sql, got, c.want)
		}
	}
	if after := testdb.Value[string](to, `select secret from vault.secrets`); after == before {
		t.Error("the ciphertext was copied")
	}
	without := migrated(t)
	_, err := Import(t.Context(), ImportOptions{URL: without.URL("supabase_admin"),
		Files: &memory{data: map[string]string{}}}, bytes.NewReader(data))
	if !errors.Is(err, ErrOtherSchema) {
		t.Errorf("without the extensions: %v", err)
	}
}

// The role of the compose service transfer is no superuser. Jobs and secrets get new ids.
func TestTransferExtensionsWithoutSuperuser(t *testing.T) {
	roles, err := os.ReadFile("../../../../../docker/volumes/db/service_roles.sql")
	if err != nil {
		t.Fatal(err)
	}
	from, to := migrated(t), migrated(t)
	for _, db := range []*testdb.DB{from, to} {
		db.ExecAs("supabase_admin", `alter database `+db.Name+` set cron.database_name = `+db.Name)
		db.Exec(`create extension pg_cron; create extension pgmq; select cron.schedule('old', '@daily', 'select 0')`)
	}
	from.ExecAs("supabase_admin", string(roles))
	from.Exec(`select vault.create_secret('s3cret', 'token', 'a description'), cron.schedule('0 0 * * *', 'select 1'), pgmq.create('work');
		select cron.alter_job(1, active := false)`)
	to.Exec(`select cron.schedule('gone', '@daily', 'select 0')`)
	const role = "daawo_transfer"
	var encoded bytes.Buffer
	_, err = Export(t.Context(), ExportOptions{URL: from.URL(role), Files: &memory{}},
		func() (io.WriteCloser, error) { return keepOpen{&encoded}, nil })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Import(t.Context(), ImportOptions{URL: to.URL(role), Files: &memory{}, Replace: true},
		&encoded); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ sql, want string }{
		{`select string_agg(concat_ws('|', jobname, schedule, command, active, username), ',' order by jobid) from cron.job`,
			"old|@daily|select 0|f|postgres,0 0 * * *|select 1|t|postgres"},
		{`select string_agg(name || description || decrypted_secret, ',') from vault.decrypted_secrets`,
			"tokena descriptions3cret"},
		{`select string_agg(queue_name, ',') from pgmq.list_queues()`, "work"},
	} {
		if got := testdb.Value[string](to, c.sql); got != c.want {
			t.Errorf("%s: got %s, want %s", c.sql, got, c.want)
		}
	}
}
