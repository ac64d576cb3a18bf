package acceptance

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"

	"github.com/jackc/pgx/v5"
)

// photos is a storage service in memory.
type photos struct {
	mu    sync.Mutex
	files map[string]string
}

// withPhotos gives the site a storage service with these photos.
func (s *site) withPhotos(t *testing.T, files map[string]string) *photos {
	t.Helper()
	p := &photos{files: files}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	s.env["SUPABASE_URL"], s.env["SUPABASE_SERVICE_ROLE_KEY"] = server.URL, "service"
	s.CleanImage = removePlace
	return p
}

// ServeHTTP reads and replaces objects as the storage API does.
func (p *photos) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/storage/v1/object/report-photos/")
	p.mu.Lock()
	defer p.mu.Unlock()
	content, ok := p.files[name]
	switch {
	case r.Header.Get("Authorization") != "Bearer service":
		w.WriteHeader(http.StatusForbidden)
	case r.Method == http.MethodGet && !ok:
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"statusCode":"404","error":"not_found","message":"Object not found"}`)
	case r.Method == http.MethodGet:
		_, _ = io.WriteString(w, content)
	case r.Method == http.MethodPost && r.Header.Get("X-Upsert") == "true" &&
		r.Header.Get("Content-Type") == "image/png":
		body, _ := io.ReadAll(r.Body)
		p.files[name] = string(body)
	default:
		w.WriteHeader(http.StatusTeapot)
	}
}

func (p *photos) content(name string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.files[name]
}

// removePlace stands for the removal of metadata. It accepts contents that begin with "photo".
func removePlace(content []byte) (clean []byte, contentType string, ok bool) {
	return []byte(strings.ReplaceAll(string(content), " with place", "")), "image/png",
		strings.HasPrefix(string(content), "photo")
}

// startOutbox runs the site's jobs until the end of the test.
func (s *site) startOutbox(t *testing.T) {
	t.Helper()
	if err := s.outbox.Start(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.outbox.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// cleanPhotos adds the job of submit-report for each photo.
func (s *site) cleanPhotos(t *testing.T, names ...string) {
	t.Helper()
	var b pgx.Batch
	for _, name := range names {
		if err := s.outbox.Add(&b, edge.JobCall{Function: "submit-report", Job: "clean-photo",
			Args: map[string]string{"name": name}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Host.DB.Batch(t.Context(), pool.Caller{Role: "service_role"}, &b); err != nil {
		t.Fatal(err)
	}
}

// completed waits until n jobs are completed.
func (s *site) completed(t *testing.T, n int) {
	t.Helper()
	waitFor(t, fmt.Sprintf("the completion of %d jobs", n), func() bool {
		return testdb.Value[int](s.db, `select count(*) from river.river_job where state = 'completed'`) == n
	})
}

// TestPhotoCleaning checks the job that removes a photo's metadata: the stored file, and what its
// report records about it.
func TestPhotoCleaning(t *testing.T) {
	s := newSite(t)
	const unreadable = "no picture, with place"
	stored := s.withPhotos(t, map[string]string{"1.jpg": "photo with place", "2.jpg": unreadable, "3.jpg": "photo"})
	s.db.Exec(`
		insert into reports (product_name, issue_description, photo_url, photo_metadata)
		select name, 'x', name, 'pending' from unnest(array['1.jpg', '2.jpg', '3.jpg', 'gone.jpg']) as name`)
	s.startOutbox(t)
	for i, c := range []struct{ name, state, content string }{
		{"gone.jpg", "pending", ""}, {"1.jpg", "removed", "photo"}, {"2.jpg", "kept", unreadable},
		{"3.jpg", "removed", "photo"},
		{"1.jpg", "removed", "photo"}, // a repeated job changes nothing
	} {
		s.cleanPhotos(t, c.name)
		s.completed(t, i+1)
		if got := testdb.Value[string](s.db, `select photo_metadata::text from reports where photo_url = $1`,
			c.name); got != c.state {
			t.Errorf("the report with %s says %s, want %s", c.name, got, c.state)
		}
		if got := stored.content(c.name); got != c.content {
			t.Errorf("%s contains %q, want %q", c.name, got, c.content)
		}
	}
}

// TestPhotoJobsAfterImport checks that photos which wait for their cleaning without a job, as after
// an import, get one job each and are cleaned.
func TestPhotoJobsAfterImport(t *testing.T) {
	s := newSite(t)
	stored := s.withPhotos(t, map[string]string{"lost.jpg": "photo with place", "again.jpg": "photo with place"})
	s.db.ExecAs("supabase_storage_admin", `
		insert into storage.objects (bucket_id, name)
		select 'report-photos', name || '.jpg'
		  from unnest(array['lost', 'again', 'queued', 'old', 'failed', 'clean']) as name`)
	s.db.Exec(`
		insert into reports (product_name, issue_description, photo_url, photo_metadata)
		select name, 'x', name || '.jpg', case name when 'clean' then 'removed' else 'pending' end::photo_metadata
		  from unnest(array['lost', 'again', 'queued', 'old', 'failed', 'clean', 'deleted']) as name;
		insert into river.river_job (kind, queue, args, max_attempts, state, finalized_at) values
			('clean_photo', 'photo', '{"name":"old.jpg"}', 200, 'available', null)`)
	s.cleanPhotos(t, "again.jpg", "queued.jpg", "failed.jpg")
	s.db.Exec(`
		update river.river_job set state = 'completed', finalized_at = now()
		 where args #>> '{args,name}' = 'again.jpg';
		update river.river_job set state = 'discarded', finalized_at = now()
		 where args #>> '{args,name}' = 'failed.jpg'`)
	for range 2 { // the second run changes nothing
		if err := s.RunSchedule(t.Context(), "submit-report"); err != nil {
			t.Fatal(err)
		}
	}
	const jobs = `select string_agg(name || ' ' || state, ', ' order by name, id) from (
		select coalesce(args #>> '{args,name}', args ->> 'name') as name, state, id from river.river_job) as j`
	want := "again.jpg completed, again.jpg available, failed.jpg discarded, lost.jpg available, old.jpg available, " +
		"queued.jpg available"
	if got := testdb.Value[string](s.db, jobs); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	s.startOutbox(t)
	waitFor(t, "the cleaning", func() bool {
		return testdb.Value[int](s.db,
			`select count(*) from reports where photo_url in ('lost.jpg', 'again.jpg') and photo_metadata = 'removed'`) == 2
	})
	if got := stored.content("lost.jpg") + stored.content("again.jpg"); got != "photophoto" {
		t.Errorf("the photos contain %q", got)
	}
}

// TestHangingPhotoHoldsUpNoOther checks that photos are cleaned while the transfer of another one
// hangs.
func TestHangingPhotoHoldsUpNoOther(t *testing.T) {
	s := newSite(t)
	stored := s.withPhotos(t, map[string]string{"2.jpg": "photo with place", "3.jpg": "photo with place"})
	asked, end := make(chan struct{}), make(chan struct{})
	var once sync.Once
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/1.jpg") {
			once.Do(func() { close(asked) })
			select {
			case <-end:
			case <-r.Context().Done():
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		stored.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.env["SUPABASE_URL"] = server.URL
	s.startOutbox(t)
	t.Cleanup(func() { close(end) }) // before the outbox waits for its jobs
	s.cleanPhotos(t, "1.jpg")
	<-asked
	s.cleanPhotos(t, "2.jpg", "3.jpg")
	s.completed(t, 2)
	if got := stored.content("2.jpg") + stored.content("3.jpg"); got != "photophoto" {
		t.Errorf("the other photos contain %q", got)
	}
}

// TestPhotosAreCleanedOneAtATime checks that photos are decoded one after the other, because each
// needs much memory.
func TestPhotosAreCleanedOneAtATime(t *testing.T) {
	var running, most atomic.Int64
	s := newSite(t)
	files := map[string]string{}
	for i := range 5 {
		files[fmt.Sprintf("%d.jpg", i)] = "photo"
	}
	s.withPhotos(t, files)
	s.CleanImage = func(content []byte) ([]byte, string, bool) {
		most.Store(max(most.Load(), running.Add(1)))
		time.Sleep(20 * time.Millisecond)
		running.Add(-1)
		return content, "image/jpeg", true
	}
	s.startOutbox(t)
	s.cleanPhotos(t, "0.jpg", "1.jpg", "2.jpg", "3.jpg", "4.jpg")
	s.completed(t, 5)
	if most.Load() != 1 {
		t.Errorf("%d photos at once, want 1", most.Load())
	}
	if n := testdb.Value[int](s.db,
		`select count(*) from river.river_job where attempt <> 1 or errors is not null`); n != 0 {
		t.Errorf("waiting counts as a failed attempt for %d jobs", n)
	}
}
