package extension_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/database/extension/cron"
	"daawo/supabase/internal/database/extension/lead"
	"daawo/supabase/internal/database/extension/pgnet"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"

	"github.com/jackc/pgx/v5"
)

// startWorkers runs the workers for a database, as one server does, until the
// test ends or stop is called.
func startWorkers(t *testing.T, d *testdb.DB, targets pgnet.Targets, now func() time.Time) (stop func()) {
	t.Helper()
	admin := d.URL("supabase_admin")
	db, err := pool.Open(t.Context(), pool.Config{URL: admin, MaxConns: 3})
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		lead.Run(ctx, lead.Options{
			Connect: func(ctx context.Context) (*pgx.Conn, error) { return pool.Connect(ctx, admin) },
			Workers: []lead.Worker{
				cron.New(cron.Options{DB: db, Log: log, Now: now,
					Connect: func(ctx context.Context, role, database string) (*pgx.Conn, error) {
						return pool.Connect(ctx, testdb.Server(t).DatabaseURL(role, database))
					}}),
				pgnet.New(pgnet.Options{DB: db, Targets: targets, Log: log}),
			},
			Log: log, Retry: 20 * time.Millisecond,
		})
	}()
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			cancel()
			<-done
			db.Close()
		}
	}
	t.Cleanup(stop)
	return stop
}

// await runs the query until it returns want.
func await[T comparable](t *testing.T, d *testdb.DB, want T, sql string, args ...any) {
	t.Helper()
	var got T
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if got = testdb.Value[T](d, sql, args...); got == want {
			return
		}
	}
	t.Fatalf("%s: got %v, want %v", sql, got, want)
}

// everything allows requests to the test's own servers.
var everything = pgnet.Targets{Private: true}

func TestCronRunsJobs(t *testing.T) {
	d := testdb.New(t)
	cronHere(d)
	startWorkers(t, d, everything, nil)
	d.Exec(`create table ticks (at timestamptz default now(), by text default current_user)`)
	d.Exec(`select cron.schedule('tick', '1 seconds', 'insert into ticks default values')`)
	d.Exec(`select cron.schedule('fail', '1 second', 'select 1 / 0')`)
	d.Exec(`select cron.schedule('rows', '1 second', 'select generate_series(1, 3); select 1 from generate_series(1, 2)')`)
	await(t, d, true, `select count(*) >= 2 from ticks where by = 'postgres'`)
	for name, want := range map[string]string{"tick": "succeeded|INSERT 0 1",
		"fail": "failed|ERROR:  division by zero\n", "rows": "succeeded|2 rows"} {
		await(t, d, want, `
			select coalesce((select d.status || '|' || d.return_message from cron.job_run_details d join cron.job j using (jobid)
			where j.jobname = $1 and d.end_time >= d.start_time and d.job_pid > 0 and d.username = 'postgres'
			  and d.database = current_database() and d.command = j.command order by runid limit 1), '')`, name)
	}
	d.Exec(`select cron.unschedule('tick'), cron.unschedule('fail'), cron.unschedule(jobid) from cron.job where jobname = 'rows'`)
	await(t, d, 0, `select count(*)::int from cron.job_run_details where status in ('starting', 'running')`)
	d.Exec(`truncate ticks`)
	time.Sleep(1500 * time.Millisecond)
	if n := testdb.Value[int](d, `select count(*)::int from ticks`); n > 1 { // one run may have been under way
		t.Errorf("the job ran %d times after it was removed", n)
	}
}

// clock is a time that a test moves.
type clock struct{ at chan time.Time }

func newClock(at time.Time) clock {
	c := clock{make(chan time.Time, 1)}
	c.at <- at
	return c
}

func (c clock) now() time.Time {
	at := <-c.at
	c.at <- at
	return at
}

func (c clock) set(at time.Time) {
	<-c.at
	c.at <- at
}

// Several servers on one database run each job once, and another server continues when the first
// stops.
func TestCronOnceWithSeveralServers(t *testing.T) {
	d := testdb.New(t)
	cronHere(d)
	at := newClock(time.Date(2026, 3, 1, 9, 59, 30, 0, time.UTC))
	stops := []func(){}
	for range 3 {
		stops = append(stops, startWorkers(t, d, everything, at.now))
	}
	d.Exec(`select net.wait_until_running()`)
	d.Exec(`create table ticks (at timestamptz default now())`)
	nudge := func() { d.Exec(`notify daawo_pg_cron`); time.Sleep(200 * time.Millisecond) }
	d.Exec(`select cron.schedule('hourly', '0 * * * *', 'insert into ticks default values')`)
	nudge()
	at.set(time.Date(2026, 3, 1, 10, 0, 5, 0, time.UTC))
	nudge()
	await(t, d, 1, `select count(*)::int from ticks`)
	nudge()
	if n := testdb.Value[int](d, `select count(*)::int from ticks`); n != 1 {
		t.Errorf("%d runs, want 1", n)
	}
	for _, stop := range stops[:2] {
		stop()
	}
	d.Exec(`select net.wait_until_running()`)
	nudge()
	at.set(time.Date(2026, 3, 1, 11, 0, 5, 0, time.UTC))
	nudge()
	await(t, d, 2, `select count(*)::int from ticks`)
}

// The role postgres sets the time zone of the schedules.
func TestCronTimeZone(t *testing.T) {
	d := testdb.New(t)
	cronHere(d)
	d.Exec(`alter database ` + d.Name + ` set cron.timezone = 'Africa/Mogadishu'; create table ticks (zone text)`)
	at := newClock(time.Date(2026, 3, 1, 8, 59, 30, 0, time.UTC))
	startWorkers(t, d, everything, at.now)
	d.Exec(`select net.wait_until_running()`)
	d.Exec(`select cron.schedule('noon there', '0 12 * * *', $$insert into ticks values ('there')$$), cron.schedule('nine here', '0 9 * * *', $$insert into ticks values ('here')$$)`)
	time.Sleep(200 * time.Millisecond)
	at.set(time.Date(2026, 3, 1, 9, 0, 5, 0, time.UTC))
	d.Exec(`notify daawo_pg_cron, 'restart'`)
	await(t, d, "there", `select coalesce(string_agg(zone, ','), '') from ticks`)
	d.Exec(`alter database ` + d.Name + ` reset cron.timezone; notify daawo_pg_cron, 'restart'`)
	time.Sleep(200 * time.Millisecond)
	at.set(time.Date(2026, 3, 2, 9, 0, 5, 0, time.UTC))
	d.Exec(`notify daawo_pg_cron`)
	await(t, d, "there,here", `select coalesce(string_agg(zone, ','), '') from ticks`)
}

func TestCronMarksInterruptedRuns(t *testing.T) {
	d := testdb.New(t)
	cronHere(d)
	stop := startWorkers(t, d, everything, nil)
	d.Exec(`select cron.schedule('long', '1 second', 'select pg_sleep(60)')`)
	await(t, d, 1, `select count(*)::int from cron.job_run_details where status = 'running'`)
	stop()
	await(t, d, "failed", `select status from cron.job_run_details limit 1`)
	d.ExecAs("supabase_admin",
		`update cron.job set active = false; insert into cron.job_run_details (jobid, status) values (1, 'running')`)
	startWorkers(t, d, everything, nil)
	await(t, d, 1, `select count(*)::int from cron.job_run_details where return_message = 'server restarted'`)
}

func TestNetSendsAndStores(t *testing.T) {
	d := testdb.New(t)
	got := make(chan *http.Request, 10)
	bodies := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := new(strings.Builder)
		_ = r.Write(body)
		got <- r
		bodies <- body.String()
		switch r.URL.Path {
		case "/slow":
			select {
			case <-r.Context().Done():
			case <-time.After(20 * time.Second):
			}
		case "/moved":
			http.Redirect(w, r, "/here", http.StatusFound)
		default:
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusCreated)
			w.Write([]byte("{\"ok\":true}\x00cut"))
		}
	}))
	defer server.Close()
	startWorkers(t, d, everything, nil)
	post := testdb.Value[int](d,
		`select net.http_post($1 || '/in?a=1#part', '{"n": 1}', '{"q": "x y&z"}', '{"X-Key": "k"}')::int`, server.URL)
	await(t, d, "201|application/json|{\"ok\":true}|f|", `
		select coalesce((select concat_ws('|', status_code, content_type, content, timed_out, coalesce(error_msg, ''))
		from net._http_response where id = $1), '')`, post)
	r := <-got
	if r.URL.RequestURI() != "/in?a=1&q=x%20y%26z" || r.Header.Get("X-Key") != "k" ||
		r.Header.Get("Content-Type") != "application/json" {
		t.Errorf("request %s with %v", r.URL.RequestURI(), r.Header)
	}
	if body := <-bodies; !strings.HasSuffix(body, `{"n": 1}`) {
		t.Errorf("body %q", body)
	}
	// A slow request must not delay others.
	slow := testdb.Value[int](d, `select net.http_get($1 || '/slow', timeout_milliseconds := 700)::int`, server.URL)
	moved := testdb.Value[int](d, `select net.http_get($1 || '/moved')::int`, server.URL)
	gone := testdb.Value[int](d, `select net.http_delete($1 || '/gone', body := '{"id": 7}')::int`, server.URL)
	for _, id := range []int{moved, gone} {
		await(t, d, 201, `select coalesce(min(status_code), 0) from net._http_response where id = $1`, id)
	}
	await(t, d, true, `select coalesce(bool_and(timed_out and error_msg like 'Timeout of 700 ms reached. Total time: %'), false)
		from net._http_response where id = $1`, slow)
	if n := testdb.Value[int](d, `select count(*)::int from net.http_request_queue`); n != 0 {
		t.Errorf("%d requests are still queued", n)
	}
	for url, want := range map[string]string{
		"ftp://x/": "Unsupported protocol", "nonsense": "URL using bad/illegal format or missing URL",
		"http://127.0.0.1:1/": "Couldn't connect to server", "http://name.invalid/": "Couldn't resolve host name",
	} {
		id := testdb.Value[int](d, `select net.http_get($1)::int`, url)
		await(t, d, want, `select coalesce(min(error_msg), '') from net._http_response where id = $1`, id)
	}
}

// A request that was queued while no server ran is sent when one starts, and old responses are
// deleted.
func TestNetSurvivesRestart(t *testing.T) {
	d := testdb.New(t)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	id := testdb.Value[int](d, `select net.http_get($1)::int`, server.URL)
	d.ExecAs("supabase_admin",
		`insert into net._http_response (id, created) values (-1, now() - interval '7 hours'), (-2, now() - interval '5 hours')`)
	stop := startWorkers(t, d, everything, nil)
	await(t, d, 200, `select coalesce(min(status_code), 0) from net._http_response where id = $1`, id)
	await(t, d, "-2", `select string_agg(id::text, ',') from net._http_response where id < 0`)
	stop()
	conn := d.Conn("postgres")
	for { // until the server has ended the worker's connection
		_, err := conn.Exec(t.Context(), `select net.check_worker_is_up()`)
		if err != nil {
			if !strings.Contains(err.Error(), "worker is not up") {
				t.Errorf("without a worker: %v", err)
			}
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	startWorkers(t, d, everything, nil)
	d.Exec(`select net.wait_until_running(); select net.check_worker_is_up()`)
	d.Exec(`alter database ` + d.Name + ` set pg_net.ttl = '1 hour'; select net.worker_restart()`)
	// Dropping and creating the extension again must not confuse the worker.
	d.Exec(`drop extension pg_net`)
	d.Exec(`create extension pg_net with schema extensions`)
	id = testdb.Value[int](d, `select net.http_get($1)::int`, server.URL)
	await(t, d, 200, `select coalesce(min(status_code), 0) from net._http_response where id = $1`, id)
}

func TestWebhookTrigger(t *testing.T) {
	d := testdb.New(t)
	bodies := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body := new(strings.Builder)
		_ = r.Write(body)
		_, text, _ := strings.Cut(body.String(), "\r\n\r\n")
		bodies <- r.Header.Get("Authorization") + " " + text
	}))
	defer server.Close()
	startWorkers(t, d, everything, nil)
	d.Exec(`create table notes (id int primary key, body text);
		alter table notes enable row level security;
		create policy own on notes for all using (true);
		create trigger hook after insert or update or delete on notes for each row
		  execute function supabase_functions.http_request('` + server.URL +
		`', 'POST', '{"Authorization": "Bearer k"}', '{}', '1000')`)
	conn := d.Conn("postgres")
	for _, step := range []struct{ sql, want string }{
		{`insert into notes values (1, 'a')`,
			`Bearer k {"type": "INSERT", "table": "notes", "record": {"id": 1, "body": "a"}, "schema": "public", "old_record": null}`},
		{`update notes set body = 'b'`,
			`Bearer k {"type": "UPDATE", "table": "notes", "record": {"id": 1, "body": "b"}, "schema": "public", "old_record": {"id": 1, "body": "a"}}`},
		{`delete from notes`, `Bearer k {"type": "DELETE", "table": "notes", "record": null, "schema": "public", "old_record": {"id": 1, "body": "b"}}`},
	} {
		// As a client does: in a transaction with the role of a signed-in user.
		if _, err := conn.Exec(t.Context(), `begin; set local role authenticated; `+step.sql+`; commit`); err != nil {
			t.Fatal(err)
		}
		select {
		case body := <-bodies:
			if body != step.want {
				t.Errorf("%s: got %s, want %s", step.sql, body, step.want)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: no request", step.sql)
		}
	}
	if n := testdb.Value[int](d,
		`select count(*)::int from supabase_functions.hooks where hook_name = 'hook' and hook_table_id = 'notes'::regclass::oid::int`); n != 3 {
		t.Errorf("%d rows in supabase_functions.hooks, want 3", n)
	}
}
