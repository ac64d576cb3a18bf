package acceptance

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"daawo/supabase/internal/database/testdb"
)

var hidden = regexp.MustCompile(`<input type="hidden" name="([a-z_]+)" value="([^"]*)">`)

// pressAgain posts the form of an error page as a browser does: its fields, here with changes, and
// no file.
func (s *site) pressAgain(page *httptest.ResponseRecorder, changes map[string]string) *httptest.ResponseRecorder {
	fields := form(changes)
	for _, field := range hidden.FindAllStringSubmatch(page.Body.String(), -1) {
		fields[field[1]] = field[2]
	}
	return s.post(fields, nil)
}

// oneWithPhoto checks that one report with a photo is stored and that the last reply says so.
func (s *site) oneWithPhoto(t *testing.T, last *httptest.ResponseRecorder) {
	t.Helper()
	if last.Code != http.StatusSeeOther || strings.Contains(last.Header().Get("Set-Cookie"), "without-photo") {
		t.Errorf("%d %v %s", last.Code, last.Header(), last.Body)
	}
	if all := testdb.Value[[]string](s.db,
		`select array_agg(coalesce(photo_url, 'no photo')) from reports`); len(all) != 1 || all[0] == "no photo" {
		t.Errorf("reports with the photos %v, want one report with a photo", all)
	}
}

// TestFailedFormKeepsPhoto checks that a second post after a failure stores the report with the
// photo of the first one, also if the visitor changed a field.
func TestFailedFormKeepsPhoto(t *testing.T) {
	for name, changes := range map[string]map[string]string{"unchanged": nil,
		"corrected": {"issue_description": "It burned badly."}} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			uploads := s.withStorage(t)
			s.db.Exec(`alter table reports add constraint broken check (false) not valid`)
			page := s.post(form(nil), jpeg)
			if page.Code != http.StatusInternalServerError ||
				!strings.Contains(page.Body.String(), "Your photo is kept") {
				t.Fatalf("%d %s", page.Code, page.Body)
			}
			if page = s.pressAgain(page, changes); page.Code != http.StatusInternalServerError {
				t.Fatalf("%d %s", page.Code, page.Body)
			}
			s.db.Exec(`alter table reports drop constraint broken`)
			s.oneWithPhoto(t, s.pressAgain(page, changes))
			if uploads.Load() != 1 {
				t.Errorf("%d uploads of one photo", uploads.Load())
			}
		})
	}
}

// TestFormWithLostReply checks a report that was stored although the visitor got an error: the
// second post stores no other.
func TestFormWithLostReply(t *testing.T) {
	tdb := newDatabase(t)
	var storing, muted atomic.Bool
	url := testdb.Relay(t, tdb.TCPURL("postgres"), func(b []byte) {
		if bytes.Contains(b, []byte("insert into public.reports")) {
			storing.Store(true)
		}
	}, func(b []byte) bool {
		// A transaction is one batch. Its replies come after the commit.
		return storing.Load() && bytes.Contains(b, []byte("INSERT 0 1")) && muted.CompareAndSwap(false, true)
	})
	s := newSiteAt(t, tdb, url)
	s.withStorage(t)
	page := s.post(form(nil), jpeg)
	if page.Code < 500 || testdb.Value[int](s.db, `select count(*) from reports`) != 1 {
		t.Fatalf("the reply for the stored report is not lost: %d %s", page.Code, page.Body)
	}
	s.oneWithPhoto(t, s.pressAgain(page, nil))
}

// TestFormAsksForLostPhoto checks that the page asks for the photo again if it was not stored,
// because a file field cannot be filled.
func TestFormAsksForLostPhoto(t *testing.T) {
	s := newSite(t)
	s.env["SUPABASE_URL"], s.env["REPORTS_PER_HOUR"] = "http://127.0.0.1:1", "1"
	for what, changes := range map[string]map[string]string{"storage is down": {"product_name": ""},
		"the limit is reached": nil} {
		if what == "the limit is reached" {
			s.post(form(nil), nil)
		}
		page := s.post(form(changes), jpeg).Body.String()
		if !strings.Contains(page, `<p class="message" id="photo-message">Please choose your photo again.</p>`) {
			t.Errorf("%s: %s", what, page)
		}
	}
}
