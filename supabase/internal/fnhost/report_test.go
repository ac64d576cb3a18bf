package fnhost

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"daawo/functions"
	"daawo/supabase/internal/db"
	"daawo/supabase/internal/outbox"
	"daawo/supabase/internal/testdb"

	"github.com/google/uuid"
)

// site is the functions of the project on a database of their own.
type site struct {
	*Host
	db     *testdb.DB
	outbox *outbox.Outbox
	env    map[string]string
}

func newSite(t testing.TB) *site {
	t.Helper()
	tdb := testdb.NewSite(t)
	return newSiteAt(t, tdb, tdb.URL("postgres"))
}

// newSiteAt reaches its database at an address of the caller's.
func newSiteAt(t testing.TB, tdb *testdb.DB, url string) *site {
	t.Helper()
	ctx := context.Background()
	pool, err := db.Open(ctx, db.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	log := slog.New(slog.DiscardHandler)
	box, err := outbox.New(outbox.Options{DB: pool, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	if err := box.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	s := &site{db: tdb, outbox: box, env: map[string]string{}}
	s.Host, err = New(Options{
		Functions: functions.All, DB: pool, Outbox: box, Log: log,
		Getenv: func(name string) string { return s.env[name] },
		Verify: func(string) (json.RawMessage, error) { return json.RawMessage(`{"role":"anon"}`), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

// call posts JSON to a function.
func (s *site) call(name string, body any, header map[string]string) *httptest.ResponseRecorder {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/"+name, bytes.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer a.b.c")
	for k, v := range header {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// report is a complete body; changes replace fields.
func report(changes map[string]any) map[string]any {
	body := map[string]any{
		"name": "A visitor", "phone": "061 2345678", "product_name": "Cream " + uuid.NewString(), "batch_number": "B1",
		"expiry_date": "2027-02-28", "where_bought": "a market", "issue_description": "It burned.",
		"location": "Banaadir, Hodan", "photo_url": nil,
	}
	maps.Copy(body, changes)
	return body
}

type receipt struct {
	ID, Reference string
	PhotoAttached *bool `json:"photo_attached"`
}

func decode[T any](t *testing.T, w *httptest.ResponseRecorder, status int) T {
	t.Helper()
	var v T
	if w.Code != status {
		t.Fatalf("status %d, want %d: %s", w.Code, status, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &v); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	return v
}

func TestReportIsStoredWithItsJob(t *testing.T) {
	s := newSite(t)
	saved := decode[receipt](t, s.call("submit-report", report(nil), nil), http.StatusOK)
	row := testdb.Value[map[string]any](s.db, `select to_jsonb(r) from reports r where id = $1`, saved.ID)
	want := map[string]any{
		"reference": saved.Reference, "phone": "061 2345678", "phone_e164": "+252612345678", "region": "Banaadir",
		"district": "Hodan", "location": "Banaadir, Hodan", "status": "new", "language": "en", "expiry_date": "2027-02-28",
	}
	for field, value := range want {
		if row[field] != value {
			t.Errorf("%s is %v, want %v", field, row[field], value)
		}
	}
	jobs := testdb.Value[string](s.db, `select string_agg(kind || args::text, ' ') from river.river_job where args ->> 'report_id' = $1`, saved.ID)
	if !strings.Contains(jobs, "notify_by_mail") || !strings.Contains(jobs, saved.Reference) {
		t.Errorf("no notification job: %s", jobs)
	}
	for _, secret := range []string{"burned", "2345678", "Cream", "market", "visitor"} {
		if strings.Contains(jobs, secret) {
			t.Errorf("the notification holds what the visitor wrote: %s", jobs)
		}
	}
}

func TestRetriesAreOneReport(t *testing.T) {
	s := newSite(t)
	body := report(nil)
	key := map[string]string{"Idempotency-Key": uuid.NewString()}
	replies := make([]string, 20)
	var wg sync.WaitGroup
	for i := range replies {
		wg.Go(func() { replies[i] = s.call("submit-report", body, key).Body.String() })
	}
	wg.Wait()
	for _, reply := range replies {
		if reply != replies[0] || !strings.Contains(reply, "DW-") {
			t.Fatalf("replies differ: %s %s", reply, replies[0])
		}
	}
	if n := testdb.Value[int](s.db, `select count(*) from reports`); n != 1 {
		t.Errorf("%d reports, want 1", n)
	}
	if n := testdb.Value[int](s.db, `select count(*) from river.river_job`); n != 1 {
		t.Errorf("%d jobs, want 1", n)
	}
	reused := s.call("submit-report", report(nil), key)
	if reused.Code != http.StatusUnprocessableEntity {
		t.Errorf("another body under the key: %d %s", reused.Code, reused.Body)
	}
	// A deleted report stays deleted when a late retry comes.
	s.db.Exec(`delete from reports`)
	if again := s.call("submit-report", body, key).Body.String(); again != replies[0] {
		t.Errorf("late retry: %s, want %s", again, replies[0])
	}
	if n := testdb.Value[int](s.db, `select count(*) from reports`); n != 0 {
		t.Error("a late retry brought a deleted report back")
	}
}

func TestRepeatedPostWithoutKeyIsOneReport(t *testing.T) {
	s := newSite(t)
	body := report(nil)
	first := decode[receipt](t, s.call("submit-report", body, nil), http.StatusOK)
	second := decode[receipt](t, s.call("submit-report", body, nil), http.StatusOK)
	if first != second {
		t.Errorf("%v, then %v", first, second)
	}
	s.db.Exec(`update private.idempotency_keys set expires_at = now()`)
	if third := decode[receipt](t, s.call("submit-report", body, nil), http.StatusOK); third.ID == first.ID {
		t.Error("after ten minutes the same text is still the same report")
	}
	if n := testdb.Value[int](s.db, `select count(*) from reports where possible_duplicate_of = $1`, first.ID); n != 1 {
		t.Errorf("%d reports are marked as its duplicate, want 1", n)
	}
}

// TestLookAlikeIsDeletedMeanwhile: a report that refers to one which is just being deleted is stored without it.
func TestLookAlikeIsDeletedMeanwhile(t *testing.T) {
	s := newSite(t)
	body := report(nil)
	decode[receipt](t, s.call("submit-report", body, nil), http.StatusOK)
	deleting := s.db.Conn("postgres")
	for _, step := range []string{`begin`, `delete from reports`} {
		if _, err := deleting.Exec(t.Context(), step); err != nil {
			t.Fatal(err)
		}
	}
	body["name"] = "Another visitor"
	reply := make(chan *httptest.ResponseRecorder)
	go func() { reply <- s.call("submit-report", body, nil) }()
	waitFor(t, func() bool {
		return testdb.Value[bool](s.db, `select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')`)
	})
	if _, err := deleting.Exec(t.Context(), `commit`); err != nil {
		t.Fatal(err)
	}
	saved := decode[receipt](t, <-reply, http.StatusOK)
	if !testdb.Value[bool](s.db, `select possible_duplicate_of is null from reports where id = $1`, saved.ID) {
		t.Error("it is marked as the duplicate of a report that is gone")
	}
}

func TestReportsThatAreRefused(t *testing.T) {
	s := newSite(t)
	for name, c := range map[string]struct {
		body     map[string]any
		language string
		field    string
		message  string
	}{
		"no product":           {report(map[string]any{"product_name": nil}), "", "product_name", "Product name is required"},
		"blank product":        {report(map[string]any{"product_name": " \n\t"}), "", "product_name", "Product name is required"},
		"no description":       {report(map[string]any{"issue_description": ""}), "", "issue_description", "Problem description is required"},
		"in Somali":            {report(map[string]any{"product_name": ""}), "so, en;q=0.5", "product_name", "Magaca badeecadda waa loo baahan yahay"},
		"a day that is none":   {report(map[string]any{"expiry_date": "2027-02-30"}), "", "expiry_date", "Write the date as year-month-day, such as 2026-08-31"},
		"another notation":     {report(map[string]any{"expiry_date": "31-01-2027"}), "", "expiry_date", "Write the date as year-month-day, such as 2026-08-31"},
		"too long a text":      {report(map[string]any{"issue_description": strings.Repeat("x", 5001)}), "", "issue_description", "At most 5000 characters"},
		"a tenth field":        {report(map[string]any{"status": "closed"}), "", "", ""},
		"a number for a name":  {report(map[string]any{"name": 5}), "", "", ""},
		"only NUL for product": {report(map[string]any{"product_name": "\x00"}), "", "product_name", "Product name is required"},
	} {
		t.Run(name, func(t *testing.T) {
			w := s.call("submit-report", c.body, map[string]string{"Accept-Language": c.language})
			e := decode[struct {
				Code, Message string
				Fields        map[string]string
			}](t, w, http.StatusBadRequest)
			if e.Code == "" || e.Message == "" {
				t.Errorf("no code or message: %s", w.Body)
			}
			if c.field != "" && e.Fields[c.field] != c.message {
				t.Errorf("fields %v, want %s: %s", e.Fields, c.field, c.message)
			}
		})
	}
	if n := testdb.Value[int](s.db, `select count(*) from reports`); n != 0 {
		t.Errorf("%d refused reports were stored", n)
	}
	// The message alone says what is wrong: the page's script shows no more.
	for want, body := range map[string]map[string]any{
		"Please fill in all required fields.":                                                 {"product_name": "", "expiry_date": "soon"},
		"Expiry date: Write the date as year-month-day, such as 2026-08-31":                   {"expiry_date": "soon"},
		"Batch number: At most 100 characters · Problem description: At most 5000 characters": {"batch_number": strings.Repeat("x", 101), "issue_description": strings.Repeat("x", 5001)},
	} {
		w := s.call("submit-report", report(body), nil)
		if e := decode[struct{ Message string }](t, w, http.StatusBadRequest); e.Message != want {
			t.Errorf("%q, want %q", e.Message, want)
		}
	}
}

// TestFailuresAreInTheVisitorsLanguage: an error that nobody foresaw tells the visitor what to do, and the log its cause.
func TestFailuresAreInTheVisitorsLanguage(t *testing.T) {
	s := newSite(t)
	var log bytes.Buffer
	s.Log = slog.New(slog.NewTextHandler(&log, nil))
	s.db.Exec(`alter table reports add constraint broken check (false) not valid`)
	e := decode[struct{ Code, Message string }](t, s.call("submit-report", report(nil), map[string]string{"Accept-Language": "so"}), 500)
	if e.Message != "Fadlan mar kale isku day ama si toos ah noola soo xiriir." || e.Code != "failed" {
		t.Errorf("%v", e)
	}
	if !strings.Contains(log.String(), `violates check constraint`) {
		t.Errorf("the log does not tell why: %s", log.String())
	}
}

func TestPhotoBelongsToOneReport(t *testing.T) {
	s := newSite(t)
	s.db.ExecAs("supabase_storage_admin", `insert into storage.objects (bucket_id, name) values ('report-photos', '1700000000000.jpg')`)
	order := []struct {
		photo string
		lost  bool
	}{{"1700000000000.jpg", false}, {"1700000000000.jpg", true}, {"1700000000001.jpg", true}, {"../../etc/passwd", true}}
	for _, c := range order {
		body := report(map[string]any{"photo_url": c.photo})
		key := map[string]string{"Idempotency-Key": uuid.NewString()}
		first := s.call("submit-report", body, key)
		saved := decode[receipt](t, first, http.StatusOK)
		if lost := saved.PhotoAttached != nil && !*saved.PhotoAttached; lost != c.lost {
			t.Errorf("%s: lost %v, want %v", c.photo, lost, c.lost)
		}
		if again := s.call("submit-report", body, key); again.Body.String() != first.Body.String() {
			t.Errorf("%s: the retry got %s, the first %s", c.photo, again.Body, first.Body)
		}
		kept := testdb.Value[bool](s.db, `select photo_url is not null and photo_metadata = 'pending' from reports where id = $1`, saved.ID)
		if kept == c.lost {
			t.Errorf("%s: photo kept %v", c.photo, kept)
		}
	}
	// Many posts of one report at once want its key and its photo; none may take the photo from it.
	s.db.ExecAs("supabase_storage_admin", `insert into storage.objects (bucket_id, name) values ('report-photos', '1700000000009.jpg')`)
	body, key := report(map[string]any{"photo_url": "1700000000009.jpg"}), map[string]string{"Idempotency-Key": uuid.NewString()}
	var posts sync.WaitGroup
	for range 10 {
		posts.Go(func() {
			if w := s.call("submit-report", body, key); w.Code != http.StatusOK || strings.Contains(w.Body.String(), "photo_attached") {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	posts.Wait()
	s.db.Exec(`delete from river.river_job where kind = 'clean_photo' and args ->> 'name' = '1700000000009.jpg'`)
	if n := testdb.Value[int](s.db, `select count(*) from river.river_job where kind = 'clean_photo'`); n != 1 {
		t.Errorf("%d photos are to be cleaned, want 1", n)
	}
}

func TestLimitHoldsAndStoresNoAddress(t *testing.T) {
	s := newSite(t)
	s.env["REPORTS_PER_HOUR"] = "3"
	for i := range 4 {
		w := s.call("submit-report", report(nil), nil)
		if want := map[bool]int{true: 200, false: 429}[i < 3]; w.Code != want {
			t.Fatalf("call %d: %d %s", i+1, w.Code, w.Body)
		}
		if i == 3 && (w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "contact us")) {
			t.Errorf("429 does not say what to do: %v %s", w.Header(), w.Body)
		}
	}
	first := report(nil)
	s.env["REPORTS_PER_HOUR"] = "4"
	stored := s.call("submit-report", first, nil)
	for range 2 { // what was stored is not refused afterwards
		if again := s.call("submit-report", first, nil); stored.Code != http.StatusOK || again.Body.String() != stored.Body.String() {
			t.Errorf("a repetition at the limit: %d %s, first %d %s", again.Code, again.Body, stored.Code, stored.Body)
		}
	}
	if n := testdb.Value[int](s.db, `select count(*) from reports`); n != 4 {
		t.Errorf("%d reports, want 4", n)
	}
	s.db.Exec(`update private.request_limits set started_at = started_at - interval '1 hour'`)
	if w := s.call("submit-report", report(nil), nil); w.Code != http.StatusOK {
		t.Errorf("after an hour: %d", w.Code)
	}
	if all := testdb.Value[string](s.db, `select string_agg(to_jsonb(l)::text, '') from private.request_limits l`); strings.Contains(all, "192.0.2") {
		t.Errorf("an address is stored: %s", all)
	}
}

func TestDownloads(t *testing.T) {
	s := newSite(t)
	s.db.Exec(`insert into resources (id, title, category) values ('5eed0000-0000-4000-8000-000000000001', 'A', 'B')`)
	s.db.Exec(`insert into resources (id, title, category, is_active) values ('5eed0000-0000-4000-8000-000000000002', 'A', 'B', false)`)
	id := map[string]string{"resourceId": "5eed0000-0000-4000-8000-000000000001"}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if w := s.call("track-download", id, nil); w.Code != http.StatusOK {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	wg.Wait()
	if n := testdb.Value[int](s.db, `select download_count from resources where is_active`); n != 20 {
		t.Errorf("%d downloads, want 20", n)
	}
	if n := testdb.Value[int](s.db, `select downloads from downloads_per_day where day = (now() at time zone 'UTC')::date`); n != 20 {
		t.Errorf("%d downloads today, want 20", n)
	}
	for _, c := range []struct {
		body   any
		status int
	}{
		{map[string]string{"resourceId": "5eed0000-0000-4000-8000-000000000002"}, 404},
		{map[string]string{"resourceId": uuid.NewString()}, 404},
		{map[string]string{"resourceId": "x"}, 400},
		{map[string]string{}, 400},
		{[]int{1}, 400},
	} {
		if w := s.call("track-download", c.body, nil); w.Code != c.status {
			t.Errorf("%v: %d %s, want %d", c.body, w.Code, w.Body, c.status)
		}
	}
}
