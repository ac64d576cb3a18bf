package acceptance

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"daawo/supabase/internal/database/testdb"

	"github.com/google/uuid"
)

// TestReportIsStored checks the row of a report and its notice, which must not contain what the
// visitor wrote.
func TestReportIsStored(t *testing.T) {
	s := newSite(t)
	saved := decode[receipt](t, s.call("submit-report", report(nil), nil), http.StatusOK)
	row := testdb.Value[map[string]any](s.db, `select to_jsonb(r) from reports r where id = $1`, saved.ID)
	want := map[string]any{
		"reference": saved.Reference, "phone": "061 2345678", "phone_e164": "+252612345678", "region": "Banaadir",
		"district": "Hodan", "location": "Banaadir, Hodan", "status": "new", "language": "en",
		"expiry_date": "2027-02-28",
	}
	for field, value := range want {
		if row[field] != value {
			t.Errorf("%s is %v, want %v", field, row[field], value)
		}
	}
	jobs := testdb.Value[string](s.db,
		`select string_agg(kind || args::text, ' ') from river.river_job where args #>> '{link,value}' = $1`,
		saved.Reference)
	if !strings.Contains(jobs, "notify_by_mail") || !strings.Contains(jobs, saved.Reference) {
		t.Errorf("no notice: %s", jobs)
	}
	for _, secret := range []string{"burned", "2345678", "Cream", "market", "visitor"} {
		if strings.Contains(jobs, secret) {
			t.Errorf("the notice contains what the visitor wrote: %s", jobs)
		}
	}
}

// TestRetriesStoreOneReport checks that concurrent and late retries with one key get the same reply
// and store one report.
func TestRetriesStoreOneReport(t *testing.T) {
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
		t.Error("a late retry stored a deleted report again")
	}
}

// TestRepetitionWithoutKey checks that equal reports without a key are one report for ten minutes,
// and duplicates later.
func TestRepetitionWithoutKey(t *testing.T) {
	s := newSite(t)
	body := report(nil)
	first := decode[receipt](t, s.call("submit-report", body, nil), http.StatusOK)
	second := decode[receipt](t, s.call("submit-report", body, nil), http.StatusOK)
	if first != second {
		t.Errorf("%v, then %v", first, second)
	}
	s.db.Exec(`update private.idempotency_keys set expires_at = now()`)
	if third := decode[receipt](t, s.call("submit-report", body, nil), http.StatusOK); third.ID == first.ID {
		t.Error("after ten minutes the same text is not a new report")
	}
	if n := testdb.Value[int](s.db, `select count(*) from reports where possible_duplicate_of = $1`, first.ID); n != 1 {
		t.Errorf("%d reports are marked as its duplicate, want 1", n)
	}
}

// TestEqualReportsOfTwoSenders checks that the same text without a key from two networks is two
// reports, and that each sender's repetition is recognised. Around midnight and an upgrade the
// sender of a record is unknown; then it is a repetition.
func TestEqualReportsOfTwoSenders(t *testing.T) {
	s := newSite(t)
	body := report(nil)
	send := func(address string) receipt {
		return decode[receipt](t, s.callFrom(address, "submit-report", body, nil), http.StatusOK)
	}
	one, two := send("203.0.113.7"), send("198.51.100.9")
	if one.ID == two.ID || send("203.0.113.7") != one || send("198.51.100.9") != two {
		t.Errorf("%v and %v", one, two)
	}
	if n := testdb.Value[int](s.db, `select count(*) from reports`); n != 2 {
		t.Errorf("%d reports, want 2", n)
	}
	for what, change := range map[string]string{"midnight": `set created_at = now() - interval '1 day'`,
		"an upgrade": `set body_hash = key_hash`} {
		body = report(nil)
		first := send("203.0.113.7")
		s.db.Exec(`update private.idempotency_keys ` + change)
		if again := send("203.0.113.7"); again.ID != first.ID {
			t.Errorf("after %s the repetition is another report", what)
		}
		if again := send("192.0.2.77"); again.ID != first.ID {
			t.Errorf("after %s another sender's report: %v", what, again)
		}
	}
}

// TestDuplicateOfDeletedReport checks a report that resembles one which is deleted at the same
// time: it is stored as a new one.
func TestDuplicateOfDeletedReport(t *testing.T) {
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
	waitFor(t, "the wait for the lock", func() bool {
		return testdb.Value[bool](s.db,
			`select exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock')`)
	})
	if _, err := deleting.Exec(t.Context(), `commit`); err != nil {
		t.Fatal(err)
	}
	saved := decode[receipt](t, <-reply, http.StatusOK)
	if !testdb.Value[bool](s.db, `select possible_duplicate_of is null from reports where id = $1`, saved.ID) {
		t.Error("it is marked as the duplicate of a deleted report")
	}
}

// TestInvalidReports checks the messages for invalid fields, in the language of the visitor.
func TestInvalidReports(t *testing.T) {
	s := newSite(t)
	for name, c := range map[string]struct {
		body     map[string]any
		language string
		field    string
		message  string
	}{
		"no product": {report(map[string]any{"product_name": nil}), "", "product_name",
			"Product name is required"},
		"blank product": {report(map[string]any{"product_name": " \n\t"}), "", "product_name",
			"Product name is required"},
		"no description": {report(map[string]any{"issue_description": ""}), "", "issue_description",
			"Problem description is required"},
		"in Somali": {report(map[string]any{"product_name": ""}), "so, en;q=0.5", "product_name",
			"Magaca badeecadda waa loo baahan yahay"},
		"an invalid day": {report(map[string]any{"expiry_date": "2027-02-30"}), "", "expiry_date",
			"Write the date as year-month-day, such as 2026-08-31"},
		"another notation": {report(map[string]any{"expiry_date": "31-01-2027"}), "", "expiry_date",
			"Write the date as year-month-day, such as 2026-08-31"},
		"a long text": {report(map[string]any{"issue_description": strings.Repeat("x", 5001)}), "",
			"issue_description", "At most 5000 characters"},
		"an unknown field":    {report(map[string]any{"status": "closed"}), "", "", ""},
		"a number for a name": {report(map[string]any{"name": 5}), "", "", ""},
		"only NUL for product": {report(map[string]any{"product_name": "\x00"}), "", "product_name",
			"Product name is required"},
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
		t.Errorf("%d invalid reports were stored", n)
	}
	// The script of the page shows only the message, so it must name the mistakes.
	for want, body := range map[string]map[string]any{
		"Please fill in all required fields.": {"product_name": "",
			"expiry_date": "soon"},
		"Expiry date: Write the date as year-month-day, such as 2026-08-31":                   {"expiry_date": "soon"},
		"Batch number: At most 100 characters · Problem description: At most 5000 characters": {"batch_number": strings.Repeat("x", 101), "issue_description": strings.Repeat("x", 5001)},
	} {
		w := s.call("submit-report", report(body), nil)
		if e := decode[struct{ Message string }](t, w, http.StatusBadRequest); e.Message != want {
			t.Errorf("%q, want %q", e.Message, want)
		}
	}
}

// TestUnexpectedError checks that the reply to an unexpected error is in the visitor's language and
// that the log has the cause.
func TestUnexpectedError(t *testing.T) {
	s := newSite(t)
	var log bytes.Buffer
	s.Log = slog.New(slog.NewTextHandler(&log, nil))
	s.db.Exec(`alter table reports add constraint broken check (false) not valid`)
	e := decode[struct{ Code, Message string }](t,
		s.call("submit-report", report(nil), map[string]string{"Accept-Language": "so"}), 500)
	if e.Message != "Fadlan mar kale isku day ama si toos ah noola soo xiriir." || e.Code != "failed" {
		t.Errorf("%v", e)
	}
	if !strings.Contains(log.String(), `violates check constraint`) {
		t.Errorf("the log lacks the cause: %s", log.String())
	}
}

// TestPhotoBelongsToOneReport checks that a photo is attached to the first report that names it,
// and to no other.
func TestPhotoBelongsToOneReport(t *testing.T) {
	s := newSite(t)
	s.db.ExecAs("supabase_storage_admin",
		`insert into storage.objects (bucket_id, name) values ('report-photos', '1700000000000.jpg')`)
	order := []struct {
		photo string
		lost  bool
	}{{"1700000000000.jpg", false}, {"1700000000000.jpg", true}, {"1700000000001.jpg", true},
		{"../../etc/passwd", true}}
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
		kept := testdb.Value[bool](s.db,
			`select photo_url is not null and photo_metadata = 'pending' from reports where id = $1`, saved.ID)
		if kept == c.lost {
			t.Errorf("%s: photo kept %v", c.photo, kept)
		}
	}
	// Concurrent posts of one report compete for its key and its photo. The report keeps the photo.
	s.db.ExecAs("supabase_storage_admin",
		`insert into storage.objects (bucket_id, name) values ('report-photos', '1700000000009.jpg')`)
	body, key := report(map[string]any{"photo_url": "1700000000009.jpg"}),
		map[string]string{"Idempotency-Key": uuid.NewString()}
	var posts sync.WaitGroup
	for range 10 {
		posts.Go(func() {
			if w := s.call("submit-report", body, key); w.Code != http.StatusOK ||
				strings.Contains(w.Body.String(), "photo_attached") {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	posts.Wait()
	s.db.Exec(`delete from river.river_job where args ->> 'job' = 'clean-photo' and args #>> '{args,name}' = '1700000000009.jpg'`)
	if n := testdb.Value[int](s.db,
		`select count(*) from river.river_job where args ->> 'job' = 'clean-photo'`); n != 1 {
		t.Errorf("%d jobs for photos, want 1", n)
	}
}

// TestReportLimit checks the limit of reports per hour, that repetitions do not count, and that no
// address is stored.
func TestReportLimit(t *testing.T) {
	s := newSite(t)
	s.env["REPORTS_PER_HOUR"] = "3"
	for i := range 4 {
		w := s.call("submit-report", report(nil), nil)
		if want := map[bool]int{true: 200, false: 429}[i < 3]; w.Code != want {
			t.Fatalf("call %d: %d %s", i+1, w.Code, w.Body)
		}
		if i == 3 && (w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "contact us")) {
			t.Errorf("the 429 gives no advice: %v %s", w.Header(), w.Body)
		}
	}
	first := report(nil)
	s.env["REPORTS_PER_HOUR"] = "4"
	stored := s.call("submit-report", first, nil)
	for range 2 { // a stored report gets its receipt again
		if again := s.call("submit-report", first, nil); stored.Code != http.StatusOK ||
			again.Body.String() != stored.Body.String() {
			t.Errorf("a repetition at the limit: %d %s, first %d %s", again.Code, again.Body, stored.Code, stored.Body)
		}
	}
	if n := testdb.Value[int](s.db, `select count(*) from reports`); n != 4 {
		t.Errorf("%d reports, want 4", n)
	}
	s.db.Exec(`update edge_functions.request_limits set started_at = started_at - interval '1 hour'`)
	if w := s.call("submit-report", report(nil), nil); w.Code != http.StatusOK {
		t.Errorf("after an hour: %d", w.Code)
	}
	if all := testdb.Value[string](s.db,
		`select string_agg(to_jsonb(l)::text, '') from edge_functions.request_limits l`); strings.Contains(all,
		"192.0.2") {
		t.Errorf("an address is stored: %s", all)
	}
}

// TestDownloads checks that concurrent downloads are all counted, and the replies for unknown and
// hidden resources.
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
	if n := testdb.Value[int](s.db,
		`select downloads from downloads_per_day where day = (now() at time zone 'UTC')::date`); n != 20 {
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
