package app

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/app/doctor"
	"daawo/supabase/internal/app/handover"
	"daawo/supabase/internal/app/lifecycle"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/realtime"
)

// socket is a client of Realtime.
type socket struct {
	t    *testing.T
	conn *websocket.Conn
}

func openSocket(t *testing.T, address string) socket {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	return socket{t, conn}
}

func (s socket) send(text string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	if err := s.conn.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
		s.t.Fatal(err)
	}
}

// want waits for a message that contains part.
func (s socket) want(part string) {
	s.t.Helper()
	s.until(part)
}

// until returns the messages up to the one that contains part.
func (s socket) until(part string) (messages []string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	for {
		_, text, err := s.conn.Read(ctx)
		if err != nil {
			s.t.Fatalf("waiting for %s: %v", part, err)
		}
		messages = append(messages, string(text))
		if strings.Contains(string(text), part) {
			return messages
		}
	}
}

// testRealtimeThroughGateway uses a socket and the HTTP API with an opaque key, for changes of rows
// and broadcasts.
func testRealtimeThroughGateway(t *testing.T, a *App, info Info) {
	api, key := info.Get("API_URL"), info.Get("PUBLISHABLE_KEY")
	err := pool.WithConn(t.Context(), info.Get("DB_URL"), func(conn *pgx.Conn) error {
		_, err := conn.Exec(t.Context(), `
			create table public.documents (id int primary key, title text);
			alter table public.documents enable row level security;
			create policy everyone on public.documents for select using (title <> 'hidden');
			grant select on public.documents to anon;
			alter publication supabase_realtime add table public.documents`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s := openSocket(t, api+"/realtime/v1/websocket?vsn=2.0.0&apikey="+key)
	s.send(`["1","1","realtime:todos","phx_join",{"access_token":"` + key +
		`","config":{"postgres_changes":[{"event":"*","schema":"public","table":"documents"}]}}]`)
	s.want("Subscribed to PostgreSQL")
	err = pool.WithConn(t.Context(), info.Get("DB_URL"), func(conn *pgx.Conn) error {
		_, err := conn.Exec(t.Context(), `insert into public.documents values (1, 'hidden'), (2, 'shown')`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.want(`"record":{"id":2,"title":"shown"}`)
	body := `{"messages":[{"topic":"todos","event":"e","payload":{"n":1}}]}`
	if status, reply := call(t, "POST", api+"/realtime/v1/api/broadcast", body, "apikey", key, "Content-Type",
		"application/json"); status != 202 {
		t.Errorf("broadcast: %d %s", status, reply)
	}
	s.want(`{"event":"e","payload":{"n":1},"type":"broadcast"}`)
	for _, path := range []string{"/realtime/v1/api/tenants", "/realtime/v1/metrics",
		"/realtime/v1/api/tenants/realtime-dev/health"} {
		if status, _ := call(t, "GET", api+path, "", "apikey", info.Get("SECRET_KEY")); status != 404 {
			t.Errorf("%s replies %d", path, status)
		}
	}
	if status, _ := call(t, "GET", api+"/realtime/v1/websocket", ""); status != 401 {
		t.Errorf("without a key: %d", status)
	}
	if status, metrics := call(t, "GET", api+"/metrics", ""); status != 200 ||
		!strings.Contains(metrics, "daawo_realtime_connections 1") {
		t.Errorf("metrics: %d", status)
	}
	checkDoctor(t, a, info)
}

// checkDoctor checks what the doctor finds out about replication.
func checkDoctor(t *testing.T, a *App, info Info) {
	t.Helper()
	examine := func() string {
		var lines []string
		for _, f := range doctor.Examine(t.Context(), *a.Options) {
			lines = append(lines, string(f.Verdict)+" "+f.What+": "+f.Says)
		}
		return strings.Join(lines, "\n")
	}
	if got := examine(); !strings.Contains(got, "ok realtime: changes of rows can be read") {
		t.Errorf("doctor: %s", got)
	}
	err := pool.WithConn(t.Context(), info.Get("DB_URL"), func(conn *pgx.Conn) error {
		_, err := conn.Exec(t.Context(), `select pg_create_physical_replication_slot('unused', true)`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := examine(); !strings.Contains(got, "warn database: replication slot unused is not in use and keeps") {
		t.Errorf("doctor with an unused slot: %s", got)
	}
}

// joinSince opens a socket and joins a channel with the changes of documents since a position. It
// returns the messages up to the one that confirms the subscription.
func joinSince(t *testing.T, api, key, since string) (s socket, messages []string) {
	t.Helper()
	s = openSocket(t, api+"/realtime/v1/websocket?vsn=2.0.0&apikey="+key)
	s.send(`["1","1","realtime:todos","phx_join",{"config":{"postgres_changes":[{"event":"*","schema":"public",` +
		`"table":"documents","since":"` + since + `"}]}}]`)
	return s, s.until("Subscribed to PostgreSQL")
}

// positionOf returns the position in a message.
func positionOf(t *testing.T, message string) string {
	t.Helper()
	_, after, ok := strings.Cut(message, `"position":"`)
	position, _, _ := strings.Cut(after, `"`)
	if !ok {
		t.Fatalf("no position in %s", message)
	}
	return position
}

// TestRejoinThroughUpgrade replaces the server while a client is away. The client gets the rows of
// before, of the time between the two processes, and after.
func TestRejoinThroughUpgrade(t *testing.T) {
	data, environment := dataFolder(t), map[string]string{"SUPABASE_REALTIME_ENABLED": "true"}
	first, second := newApp(t, data, environment), newApp(t, data, environment)
	second.Version = "2"
	first.process.Spawn = func(ctx context.Context, _ handover.Program, facts any,
		files *handover.Files) (*handover.Server, error) {
		return handover.StartWithin(ctx, facts, files, func(connect handover.Connect) error {
			if err := second.process.Connect(connect); err != nil {
				return err
			}
			return second.Run(context.Background(), func(Info) {})
		})
	}
	r := runApp(t, first)
	api, key, url := r.info.Get("API_URL"), r.info.Get("PUBLISHABLE_KEY"), r.info.Get("DB_URL")
	try := func(sql string) error {
		return pool.WithConn(t.Context(), url, func(conn *pgx.Conn) error {
			_, err := conn.Exec(t.Context(), sql)
			return err
		})
	}
	run := func(sql string) {
		t.Helper()
		if err := try(sql); err != nil {
			t.Fatal(err)
		}
	}
	run(`create table public.documents (id int primary key);
		grant select on public.documents to anon;
		alter publication supabase_realtime add table public.documents`)
	s, _ := joinSince(t, api, key, "")
	run(`insert into documents values (1)`)
	got := s.until(`"record":{"id":1}`)
	position := positionOf(t, got[len(got)-1])
	_ = s.conn.CloseNow()
	run(`insert into documents values (2)`)
	writing, stop := context.WithCancel(t.Context())
	last := make(chan int)
	go func() {
		n := 3
		for ; writing.Err() == nil; n++ {
			if err := try(fmt.Sprintf(`insert into documents values (%d)`, n)); err != nil {
				t.Error(err)
				break
			}
		}
		last <- n
	}()
	var u lifecycle.Upgraded
	if err := control.Command(t.Context(), data, "/upgrade", &u); err != nil || u.Version != "2" {
		t.Fatalf("%+v %v", u, err)
	}
	stop()
	rows := <-last
	_, got = joinSince(t, api, key, position)
	confirmed := got[len(got)-1]
	if strings.Contains(confirmed, `"reason"`) {
		t.Errorf("changes are missing: %s", confirmed)
	}
	all := strings.Join(got, "\n")
	for n := 2; n < rows; n++ {
		if c := strings.Count(all, fmt.Sprintf(`"record":{"id":%d}`, n)); c != 1 {
			t.Errorf("row %d of %d arrived %d times", n, rows, c)
		}
	}
	var none struct{}
	if err := control.Command(t.Context(), data, "/stop", &none); err != nil {
		t.Fatal(err)
	}
	if err := <-r.done; err != nil {
		t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
}

// TestRealtimeSettings checks that each key of [realtime] reaches the engine.
func TestRealtimeSettings(t *testing.T) {
	a := newApp(t, dataFolder(t), map[string]string{
		"SUPABASE_REALTIME_MAX_CONCURRENT_USERS": "1", "SUPABASE_REALTIME_MAX_CHANNELS_PER_CLIENT": "2",
		"SUPABASE_REALTIME_MAX_JOINS_PER_SECOND": "3", "SUPABASE_REALTIME_MAX_EVENTS_PER_SECOND": "4",
		"SUPABASE_REALTIME_MAX_PRESENCE_EVENTS_PER_SECOND": "5", "SUPABASE_REALTIME_MAX_PAYLOAD_SIZE_IN_KB": "6",
		"SUPABASE_REALTIME_MAX_CLIENT_PRESENCE_EVENTS_PER_WINDOW": "7",
		"SUPABASE_REALTIME_CLIENT_PRESENCE_WINDOW":                "8s", "SUPABASE_REALTIME_PRIVATE_ONLY": "true",
		"SUPABASE_REALTIME_MAX_CLIENT_BROADCAST_KB_PER_SECOND": "9",
	})
	want := realtime.Settings{
		MaxConnections: 1, MaxChannelsPerClient: 2, MaxJoinsPerSecond: 3, MaxEventsPerSecond: 4,
		MaxPresenceEventsPerSecond: 5, MaxPayloadKB: 6, MaxClientKBPerSecond: 9, ClientPresenceEvents: 7,
		ClientPresenceWindow: 8 * time.Second, PrivateOnly: true,
	}
	if got := realtimeSettings(a.Config.Realtime); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
