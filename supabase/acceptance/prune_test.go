package acceptance

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/database/testdb"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestPrune checks which photos and keys prune deletes.
func TestPrune(t *testing.T) {
	s := newSite(t)
	var removed string
	storage := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		removed += r.Method + " " + r.URL.Path + " " + string(body)
	}))
	defer storage.Close()
	s.env["SUPABASE_URL"] = storage.URL
	s.db.ExecAs("supabase_storage_admin", `
		insert into storage.objects (bucket_id, name, created_at) values
			('report-photos', 'old-orphan.jpg', now() - interval '25 hours'),
			('report-photos', 'new-orphan.jpg', now() - interval '23 hours'),
			('report-photos', 'evicted.jpg', now() - interval '1 hour'),
			('report-photos', 'attached.jpg', now() - interval '25 hours'),
			('resources', 'old.pdf', now() - interval '25 hours')`)
	s.db.Exec(`
		update private.waiting_photos set evicted = true where name = 'evicted.jpg';
		insert into reports (product_name, issue_description, photo_url, idempotency_key, created_at) values
			('a', 'b', 'attached.jpg', 'recent', now()), ('a', 'b', null, 'old', now() - interval '31 days');
		insert into private.idempotency_keys (key_hash, body_hash, report_id, reference, expires_at) values
			('x', 'x', gen_random_uuid(), 'x', now() - interval '1 second'), ('y', 'y', gen_random_uuid(), 'y', now() + interval '1 day')`)
	if err := s.RunSchedule(t.Context(), "prune"); err != nil {
		t.Fatal(err)
	}
	if want := `DELETE /storage/v1/object/report-photos {"prefixes":["old-orphan.jpg","evicted.jpg"]}`; removed != want {
		t.Errorf("%s, want %s", removed, want)
	}
	for q, want := range map[string]string{
		`select string_agg(key_hash, ',') from private.idempotency_keys`: "y",
		`select string_agg(idempotency_key, ',') from public.reports`:    "recent",
	} {
		if got := testdb.Value[string](s.db, q); got != want {
			t.Errorf("%s: %s, want %s", q, got, want)
		}
	}
}

// TestPruneBesideReport checks that a report which names a photo while prune deletes the file is
// stored without the photo, and that prune keeps a photo that a report takes at the same time.
func TestPruneBesideReport(t *testing.T) {
	s := newSite(t)
	waitingPhoto := s.photoWriter(t)
	const late, early = "1700000000000.jpg", "1700000000001.jpg"
	for _, name := range []string{late, early} {
		if err := waitingPhoto(name, "203.0.113.7", `{"claim":"own"}`, 100); err != nil {
			t.Fatal(err)
		}
	}
	s.db.ExecAs("supabase_storage_admin",
		`update storage.objects set created_at = now() - interval '25 hours' where bucket_id = 'report-photos'`)
	send := func(name string) receipt {
		w := s.callFrom("203.0.113.7", "submit-report", report(map[string]any{"photo_url": name, "product_name": name}),
			map[string]string{"Photo-Claim": "own"})
		return decode[receipt](t, w, http.StatusOK)
	}
	if saved := send(early); saved.PhotoAttached != nil {
		t.Fatal("the early report has no photo")
	}
	var removed string
	storage := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		removed += string(body)
		if saved := send(late); saved.PhotoAttached == nil || *saved.PhotoAttached {
			t.Error("a report took a photo that is being deleted")
		}
		_, err := s.db.Conn("postgres").Exec(t.Context(), `update public.reports set photo_url = $1 where photo_url is null`, late)
		if pg := new(pgconn.PgError); !errors.As(err, &pg) || pg.ConstraintName != "reports_photo" {
			t.Errorf("a report that looked before takes the photo: %v", err)
		}
	}))
	defer storage.Close()
	s.env["SUPABASE_URL"] = storage.URL
	if err := s.RunSchedule(t.Context(), "prune"); err != nil {
		t.Fatal(err)
	}
	if want := `{"prefixes":["` + late + `"]}`; removed != want {
		t.Errorf("removed %s, want %s", removed, want)
	}
}

// TestPruneAfterFailure checks that prune reports an unreachable storage service and a wrong
// setting, and still deletes keys.
func TestPruneAfterFailure(t *testing.T) {
	s := newSite(t)
	s.env["SUPABASE_URL"], s.env["REPORTS_KEEP_DAYS"] = "http://127.0.0.1:1", "20"
	s.db.ExecAs("supabase_storage_admin",
		`insert into storage.objects (bucket_id, name, created_at) values ('report-photos', 'old', now() - interval '25 hours')`)
	s.db.Exec(`insert into private.idempotency_keys (key_hash, body_hash, report_id, reference, expires_at)
		values ('x', 'x', gen_random_uuid(), 'x', now() - interval '1 second')`)
	err := s.RunSchedule(t.Context(), "prune")
	if err == nil || !strings.Contains(err.Error(), "REPORTS_KEEP_DAYS") ||
		!strings.Contains(err.Error(), "storage: ") {
		t.Errorf("the error is %v", err)
	}
	if n := testdb.Value[int](s.db, `select count(*) from private.idempotency_keys`); n != 0 {
		t.Errorf("%d expired keys remain", n)
	}
}

// TestRetention checks that old closed reports are deleted, then their photos, and that open and
// recently closed ones stay.
func TestRetention(t *testing.T) {
	s := newSite(t)
	var removed string
	storage := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		removed += string(body)
		// A report that is reopened until its row is deleted keeps its photo.
		if n := testdb.Value[int](s.db, `select count(*) from reports where photo_url = 'old.jpg'`); n > 0 {
			t.Error("a photo is deleted before its report")
		}
	}))
	defer storage.Close()
	s.env["SUPABASE_URL"] = storage.URL
	s.db.ExecAs("supabase_storage_admin", `
		insert into storage.objects (bucket_id, name, created_at)
		select 'report-photos', name || '.jpg', now() - interval '91 days' from unnest(array['old', 'open', 'young', 'late']) as name`)
	s.db.Exec(`
		insert into reports (product_name, issue_description, photo_url, status, created_at, updated_at) values
			('old', 'x', 'old.jpg', 'closed', now() - interval '91 days', now() - interval '91 days'),
			('older', 'x', null, 'closed', now() - interval '2 years', now() - interval '2 years'),
			('open', 'x', 'open.jpg', 'reviewing', now() - interval '2 years', now() - interval '2 years'),
			('young', 'x', 'young.jpg', 'closed', now() - interval '89 days', now() - interval '89 days'),
			('late', 'x', 'late.jpg', 'closed', now() - interval '1 year', now() - interval '1 day')`)
	left := func() string {
		return testdb.Value[string](s.db,
			`select string_agg(product_name, ',' order by created_at) from public.reports`)
	}
	for _, step := range []struct{ days, left, removed, fails string }{
		{"", "older,open,late,old,young", "", ""},
		{"soon", "older,open,late,old,young", "", "REPORTS_KEEP_DAYS"},
		{"7", "older,open,late,old,young", "", "at least 30"},
		{"90", "open,late,young", `{"prefixes":["old.jpg"]}`, ""},
	} {
		s.env["REPORTS_KEEP_DAYS"] = step.days
		err := s.RunSchedule(t.Context(), "prune")
		if (err != nil) != (step.fails != "") || err != nil && !strings.Contains(err.Error(), step.fails) {
			t.Errorf("%q: %v", step.days, err)
		}
		if got := left(); got != step.left || removed != step.removed {
			t.Errorf("%q: %s remain, want %s; removed %s, want %s", step.days, got, step.left, removed, step.removed)
		}
	}
}

// TestPruneConvertsOldJobs checks that prune turns jobs which an older version stored for photos
// into jobs of submit-report, and that these run.
func TestPruneConvertsOldJobs(t *testing.T) {
	s := newSite(t)
	s.withPhotos(t, map[string]string{"1.jpg": "photo with place"})
	s.db.Exec(`
		insert into reports (product_name, issue_description, photo_url, photo_metadata) values ('a', 'b', '1.jpg', 'pending');
		insert into river.river_job (kind, queue, args, max_attempts, state, scheduled_at, attempt, finalized_at) values
			('clean_photo', 'photo', '{"bucket":"report-photos","name":"1.jpg"}', 200, 'available', now(), 0, null),
			('clean_photo', 'photo', '{"bucket":"report-photos","name":"2.jpg"}', 200, 'retryable', now() + interval '1 hour', 3, null),
			('clean_photo', 'photo', '{"bucket":"report-photos","name":"3.jpg"}', 200, 'scheduled', now() + interval '1 hour', 0, null),
			('clean_photo', 'photo', '{"bucket":"report-photos","name":"4.jpg"}', 200, 'completed', now(), 1, now()),
			('send_mail', 'mail', '{"name":"5.jpg"}', 200, 'available', now(), 0, null)`)
	for range 2 { // the second run changes nothing
		if err := s.RunSchedule(t.Context(), "prune"); err != nil {
			t.Fatal(err)
		}
	}
	for what, want := range map[string]string{
		`converted jobs: select string_agg(args #>> '{args,name}' || ' ' || state || ' ' || attempt, ', ' order by id)
			from river.river_job where kind = 'function_job' and queue = 'function' and args ->> 'function' = 'submit-report' and args ->> 'job' = 'clean-photo'`: "1.jpg available 0, 2.jpg retryable 3, 3.jpg scheduled 0",
		`other jobs: select string_agg(kind || ' ' || queue || ' ' || (args ->> 'name'), ', ' order by id)
			from river.river_job where kind <> 'function_job'`: "clean_photo photo 4.jpg, send_mail mail 5.jpg",
	} {
		name, q, _ := strings.Cut(what, ": ")
		if got := testdb.Value[string](s.db, q); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	s.startOutbox(t)
	waitFor(t, "the cleaning of the photo", func() bool {
		return testdb.Value[string](s.db, `select photo_metadata::text from reports`) == "removed"
	})
}

// TestWeeklyDigest checks that the weekly mail has counts, and no word of a single visitor.
func TestWeeklyDigest(t *testing.T) {
	s := newSite(t)
	if err := s.RunSchedule(t.Context(), "weekly-digest"); err != nil {
		t.Fatal(err)
	}
	if n := testdb.Value[int](s.db, `select count(*) from river.river_job`); n != 0 {
		t.Error("a week without reports causes a mail")
	}
	// two days late: it was due at the 23rd
	s.Host.Now = func() time.Time { return time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC) }
	s.db.Exec(`
		insert into reports (product_name, issue_description, region, created_at, status) values
			('Cream X', 'secret', 'Bari', '2026-11-16 06:00Z', 'new'), ('cream x', 'secret', 'Bari', '2026-11-23 05:59Z', 'new'),
			(' Cream X', 'secret', null, '2026-11-20 06:00Z', 'closed'), ('my neighbour Amina''s pills', 'secret', 'Sool', '2026-11-20 06:00Z', 'new'),
			('Cream X', 'secret', 'Bay', '2026-11-16 05:59Z', 'new'), ('Cream X', 'secret', 'Bay', '2026-11-23 06:00Z', 'new')`)
	if err := s.RunSchedule(t.Context(), "weekly-digest"); err != nil {
		t.Fatal(err)
	}
	mail := testdb.Value[string](s.db, `select args::text from river.river_job`)
	for _, want := range []string{"of the week: 4", "the seven days before 2026-11-23 06:00 UTC",
		`"Product Cream X", "value": "3"`, "fewer than 3 times", `"Region Bari", "value": "2"`} {
		if !strings.Contains(mail, want) {
			t.Errorf("no %q in %s", want, mail)
		}
	}
	for _, never := range []string{"secret", "Amina", "Bay"} {
		if strings.Contains(mail, never) {
			t.Errorf("%q is in %s", never, mail)
		}
	}
}
