package acceptance

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/database/testdb"
)

// jpeg is a minimal file that is recognised as a JPEG.
var jpeg = append([]byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01"), make([]byte, 100)...)

// withStorage gives the site a storage service that stores the names of uploads, and counts them.
func (s *site) withStorage(t *testing.T) *atomic.Int64 {
	t.Helper()
	uploads, writing, conn := new(atomic.Int64), new(sync.Mutex), s.db.Conn("supabase_storage_admin")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/storage/v1/object/report-photos/")
		if r.Header.Get("Authorization") != "Bearer service" {
			http.Error(w, `{"statusCode":"403","error":"Unauthorized","message":"no"}`, http.StatusBadRequest)
			return
		}
		metadata, _ := base64.StdEncoding.DecodeString(r.Header.Get("X-Metadata"))
		writing.Lock()
		defer writing.Unlock()
		if _, err := conn.Exec(r.Context(), `insert into storage.objects (bucket_id, name, user_metadata)
			values ('report-photos', $1, nullif($2, '')::jsonb)`, name, string(metadata)); err != nil {
			http.Error(w, `{"statusCode":"429","error":"too_many_connections","message":"no place"}`, http.StatusTooManyRequests)
			return
		}
		uploads.Add(1)
		_, _ = io.WriteString(w, `{"Key":"x"}`)
	}))
	t.Cleanup(server.Close)
	s.env["SUPABASE_URL"], s.env["SUPABASE_SERVICE_ROLE_KEY"] = server.URL, "service"
	return uploads
}

// form returns the fields of a complete report form, with some fields changed.
func form(changes map[string]string) map[string]string {
	f := map[string]string{
		"language": "en", "name": "", "country": "252", "phone": "61 2345678", "product_name": "Cream X",
		"where_bought": "", "batch_number": "", "expiry_date": "08/2027", "location": "Banaadir, Hodan",
		"issue_description": "It burned.",
	}
	for k, v := range changes {
		f[k] = v
	}
	return f
}

// post sends a multipart form, with a photo unless it is nil.
func (s *site) post(fields map[string]string, photo []byte) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, s.request(fields, photo))
	return w
}

// request returns the request that posts a form.
func (s *site) request(fields map[string]string, photo []byte) *http.Request {
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	for name, value := range fields {
		_ = m.WriteField(name, value)
	}
	if photo != nil {
		part, _ := m.CreateFormFile("photo", "IMG.jpg")
		_, _ = part.Write(photo)
	} else {
		_, _ = m.CreatePart(map[string][]string{
			"Content-Disposition": {`form-data; name="photo"; filename=""`},
			"Content-Type":        {"application/octet-stream"},
		})
	}
	_ = m.Close()
	r := httptest.NewRequest(http.MethodPost, "/submit-report", &body)
	r.Header.Set("Content-Type", m.FormDataContentType())
	return r
}

// TestFormPost checks a multipart post: the stored report, the redirect, and the page with the
// reference.
func TestFormPost(t *testing.T) {
	s := newSite(t)
	s.withStorage(t)
	for language, home := range map[string]string{"en": "/", "so": "/so/"} {
		w := s.post(form(map[string]string{"language": language, "product_name": "Cream " + language}), jpeg)
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != home+"report/thank-you/#sent" {
			t.Fatalf("%d %s %s", w.Code, w.Header().Get("Location"), w.Body)
		}
		row := testdb.Value[map[string]any](s.db, `select to_jsonb(r) from reports r where product_name = $1`, "Cream "+
			language)
		for field, want := range map[string]any{
			"language": language, "phone": "+252 61 2345678", "phone_e164": "+252612345678",
			"expiry_date": "2027-08-31", "region": "Banaadir",
		} {
			if row[field] != want {
				t.Errorf("%s is %v, want %v", field, row[field], want)
			}
		}
		if row["photo_url"] == nil {
			t.Error("the photo is not attached")
		}
		// The frame on the thank-you page shows the reference. No address contains it.
		if strings.Contains(w.Header().Get("Location"), "DW-") {
			t.Error("the address contains the reference")
		}
		r := httptest.NewRequest(http.MethodGet, "/submit-report?language="+language, nil)
		for _, c := range w.Result().Cookies() {
			if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.MaxAge > 120 {
				t.Errorf("wrong attributes of the cookie: %v", c)
			}
			r.AddCookie(c)
		}
		frame := httptest.NewRecorder()
		s.ServeHTTP(frame, r)
		if !strings.Contains(frame.Body.String(), row["reference"].(string)) ||
			frame.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("the frame does not show the reference: %s", frame.Body)
		}
	}
}

func TestURLEncodedForm(t *testing.T) {
	s := newSite(t)
	values := url.Values{}
	for k, v := range form(nil) {
		values.Set(k, v)
	}
	r := httptest.NewRequest(http.MethodPost, "/submit-report", strings.NewReader(values.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Forwarded-Proto", "https")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if w.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if c := w.Result().Cookies()[0]; !c.Secure {
		t.Errorf("over HTTPS the cookie is not Secure: %v", c)
	}
}

// TestFormErrors checks the page that shows an invalid form again: messages, kept values, kept
// photo, and its policy.
func TestFormErrors(t *testing.T) {
	s := newSite(t)
	uploads := s.withStorage(t)
	large := append(bytes.Clone(jpeg), make([]byte, 5<<20)...)
	for name, c := range map[string]struct {
		changes map[string]string
		photo   []byte
		has     []string
	}{
		"nothing filled": {
			map[string]string{"phone": "", "product_name": "", "location": "", "issue_description": ""}, nil,
			[]string{"Validation Error", "Please fill in all required fields.", "Product name is required",
				"Problem description is required", "Phone number is required", "Location is required"},
		},
		"in Somali": {
			map[string]string{"language": "so", "product_name": ""}, nil,
			[]string{`<html lang="so">`, "Magaca badeecadda waa loo baahan yahay", "Gudbi warbixinta",
				`href="/so/contact/"`},
		},
		"values are kept and escaped": {
			map[string]string{"product_name": "", "name": `"><script>alert(1)</script>`,
				"issue_description": "</textarea><b>x"}, nil,
			[]string{"&lt;script&gt;", "&lt;/textarea&gt;", `value="61 2345678"`, `<option value="252" selected>`},
		},
		"a number with its own calling code": {
			map[string]string{"product_name": "", "phone": "0033612345678"}, nil, []string{`value="0033612345678"`},
		},
		"not a photo": {map[string]string{}, []byte("<svg xmlns='http://www.w3.org/2000/svg'/>"),
			[]string{"Please select an image file."}},
		"too large": {map[string]string{}, large, []string{"Please select a file smaller than 5MB."}},
		"a good photo is kept": {
			map[string]string{"location": ""}, jpeg, []string{"Your photo is kept", `name="photo_url"`},
		},
		"the field for robots": {map[string]string{"website": "x"}, nil, []string{"press the button once more"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := s.post(form(c.changes), c.photo)
			page := w.Body.String()
			if w.Code != http.StatusUnprocessableEntity ||
				!strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
				t.Fatalf("%d %s", w.Code, page)
			}
			for _, want := range c.has {
				if !strings.Contains(page, want) {
					t.Errorf("no %q in %s", want, page)
				}
			}
			if strings.Contains(page, "<script") {
				t.Error("the page contains a script")
			}
			_, style, _ := strings.Cut(page, "<style>")
			style, _, _ = strings.Cut(style, "</style>")
			sum := sha256.Sum256([]byte(style))
			if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy,
				base64.StdEncoding.EncodeToString(sum[:])) {
				t.Errorf("the policy %q does not allow the page's style", policy)
			}
			if !strings.Contains(page, `<option value="Banaadir, Hodan"`) {
				t.Error("the page has no list of places")
			}
			// A visitor who presses the button again is accepted.
			if strings.Contains(page, "once more") {
				again := form(c.changes)
				delete(again, "website")
				if w := s.post(again, nil); w.Code != http.StatusSeeOther {
					t.Errorf("the second post: %d", w.Code)
				}
			}
		})
	}
	if uploads.Load() != 1 {
		t.Errorf("%d photos were uploaded, want the valid one", uploads.Load())
	}
}

// TestFormWithoutStorage checks that a report is stored without its photo while storage is down,
// and that the visitor is told.
func TestFormWithoutStorage(t *testing.T) {
	s := newSite(t)
	s.env["SUPABASE_URL"] = "http://127.0.0.1:1"
	w := s.post(form(nil), jpeg)
	if w.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	r := httptest.NewRequest(http.MethodGet, "/submit-report", nil)
	r.AddCookie(w.Result().Cookies()[0])
	frame := httptest.NewRecorder()
	s.ServeHTTP(frame, r)
	if !strings.Contains(frame.Body.String(), "Report will be submitted without photo.") {
		t.Errorf("the visitor is not told: %s", frame.Body)
	}
}

// TestFormPhotoQuota checks that the limit for photos without a report also applies to the form
// without script.
func TestFormPhotoQuota(t *testing.T) {
	s := newSite(t)
	uploads := s.withStorage(t)
	const fill = `insert into storage.objects (bucket_id, name, metadata) values ('report-photos', '1700000000000.jpg', '{"size": 500000000}')`
	s.db.ExecAs("supabase_storage_admin", fill)
	w := s.post(form(nil), jpeg)
	if w.Code != http.StatusSeeOther || !strings.Contains(w.Header().Get("Set-Cookie"), "without-photo") {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if w := s.post(form(map[string]string{"product_name": ""}), jpeg); w.Code != http.StatusUnprocessableEntity ||
		strings.Contains(w.Body.String(), "is kept") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if n := testdb.Value[int](s.db, `select count(*) from reports where photo_url is null`); n != 1 ||
		uploads.Load() != 0 {
		t.Errorf("%d reports without a photo and %d uploads, want 1 and 0", n, uploads.Load())
	}
}

// TestFormWithLargePhoto checks the page for a photo that is too large: it is in the visitor's
// language and keeps the fields as far as they were read.
func TestFormWithLargePhoto(t *testing.T) {
	s := newSite(t)
	somali := form(map[string]string{"language": "so", "name": "Axmed"})
	for _, c := range []struct {
		name     string
		bytes    int
		declared bool
		status   int
		language string
		kept     bool
	}{
		{"read completely", 20 << 20, true, 422, "so", true},
		{"longer than the body limit", 33 << 20, false, 413, "so", true},
		{"declared longer than the body limit", 33 << 20, true, 413, "en", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := s.request(somali, append(bytes.Clone(jpeg), make([]byte, c.bytes)...))
			if !c.declared {
				r.ContentLength = -1
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			says := map[string]string{"so": "Fadlan dooro fayl ka yar 5MB.",
				"en": "Please select a file smaller than 5MB."}[c.language]
			page := w.Body.String()
			if w.Code != c.status || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") ||
				!strings.Contains(page, says) {
				t.Errorf("%d %s %s", w.Code, w.Header(), page)
			}
			if strings.Contains(page, "Axmed") != c.kept {
				t.Errorf("the fields are kept: %v", !c.kept)
			}
		})
	}
	w := s.call("submit-report", report(map[string]any{"issue_description": strings.Repeat("x", 2<<20)}), nil)
	if w.Code != http.StatusRequestEntityTooLarge || !json.Valid(w.Body.Bytes()) {
		t.Errorf("long JSON: %d %s", w.Code, w.Body)
	}
}

// TestBusyForm checks that a form which the host rejects because the function is busy is answered
// with a page, and JSON with JSON.
func TestBusyForm(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	s := newSite(t, replaceFunction("submit-report", func(f *edge.Func) {
		f.MaxConcurrent, f.MaxWait = 1, time.Millisecond
		f.Handler = func(http.ResponseWriter, *http.Request, *edge.Env) error {
			close(entered)
			<-release
			return nil
		}
	}))
	defer close(release)
	go s.post(form(nil), nil)
	<-entered
	w := s.post(form(nil), nil)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" ||
		!strings.Contains(w.Body.String(), "Please try again or contact us directly.") {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	if w := s.call("submit-report", report(nil), nil); !strings.Contains(w.Body.String(), `"code":"OVERLOADED"`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestUnreadableForm checks that a form which is too long to read is answered with a page.
func TestUnreadableForm(t *testing.T) {
	s := newSite(t)
	r := s.request(form(map[string]string{"language": "so", "issue_description": strings.Repeat("x", 20_001)}), nil)
	r.URL.RawQuery = "language=so" // the field language may come after the long field
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	page := w.Body.String()
	if w.Code != http.StatusRequestEntityTooLarge || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") ||
		!strings.Contains(page, "Warbixinta lama akhrin karin.") {
		t.Errorf("%d %s", w.Code, page)
	}
}

// TestFormKeepsFieldsOnFailure checks that the page keeps the fields when the limit is reached and
// when the database is away.
func TestFormKeepsFieldsOnFailure(t *testing.T) {
	s := newSite(t)
	s.env["REPORTS_PER_HOUR"] = "1"
	s.post(form(nil), nil)
	w := s.post(form(map[string]string{"product_name": "Second"}), nil)
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" ||
		!strings.Contains(w.Body.String(), `value="Second"`) {
		t.Errorf("limit: %d %v %s", w.Code, w.Header(), w.Body)
	}
	s.Host.DB.Close()
	w = s.post(form(map[string]string{"product_name": "Third"}), nil)
	page := w.Body.String()
	if w.Code < 500 || !strings.Contains(page, `value="Third"`) ||
		!strings.Contains(page, "Please try again or contact us directly.") {
		t.Errorf("no database: %d %s", w.Code, page)
	}
}

func TestFormPostedTwice(t *testing.T) {
	s := newSite(t)
	s.withStorage(t)
	first, second := s.post(form(nil), jpeg), s.post(form(nil), jpeg)
	if a, b := first.Header().Get("Set-Cookie"), second.Header().Get("Set-Cookie"); a != b || a == "" {
		t.Errorf("%q, then %q", a, b)
	}
	if n := testdb.Value[int](s.db, `select count(*) from reports`); n != 1 {
		t.Errorf("%d reports, want 1", n)
	}
}

// TestFormRepeatedAtLimit checks that a repeated post gets the receipt of the stored report after
// the limit is reached.
func TestFormRepeatedAtLimit(t *testing.T) {
	s := newSite(t)
	uploads := s.withStorage(t)
	s.env["REPORTS_PER_HOUR"] = "1"
	first, again := s.post(form(nil), jpeg), s.post(form(nil), jpeg)
	if first.Code != http.StatusSeeOther || again.Code != http.StatusSeeOther ||
		first.Header().Get("Set-Cookie") != again.Header().Get("Set-Cookie") {
		t.Errorf("%d %v, then %d %v", first.Code, first.Header(), again.Code, again.Header())
	}
	if w := s.post(form(map[string]string{"product_name": "Another"}), jpeg); w.Code != http.StatusTooManyRequests {
		t.Errorf("another report: %d", w.Code)
	}
	if n := testdb.Value[int](s.db, `select count(*) from reports`); n != 1 || uploads.Load() != 1 {
		t.Errorf("%d reports and %d photos, want 1 and 1", n, uploads.Load())
	}
}

// TestInvalidFormsDoNotCount checks that forms with mistakes leave the limit to the people behind
// the same address, and that the photos of such forms have a limit of their own.
func TestInvalidFormsDoNotCount(t *testing.T) {
	s := newSite(t)
	uploads := s.withStorage(t)
	s.env["REPORTS_PER_HOUR"] = "1"
	for range 70 {
		if w := s.post(map[string]string{}, nil); w.Code != http.StatusUnprocessableEntity {
			t.Fatalf("an empty form: %d", w.Code)
		}
	}
	for range 130 {
		s.post(form(map[string]string{"product_name": ""}), jpeg)
	}
	if n := uploads.Load(); n != 120 {
		t.Errorf("%d photos of forms with mistakes were stored, want 120", n)
	} else if w := s.post(form(nil), nil); w.Code != http.StatusSeeOther {
		t.Errorf("an honest report: %d", w.Code)
	}
}

// TestCrossSiteForm checks that a page of another site, or of another host name of the site, cannot
// post in the name of its visitors.
func TestCrossSiteForm(t *testing.T) {
	s := newSite(t)
	for n, c := range []struct {
		site, origin string
		want         int
	}{
		{"cross-site", "", 403}, {"same-origin", "", 303}, {"none", "", 303}, {"", "", 303},
		{"", "https://evil.example", 403}, {"", "null", 403}, {"", "http://example.com", 303},
		{"same-site", "", 403}, {"same-site", "http://blog.example.com", 403}, {"same-site", "http://example.com", 303},
	} {
		r := s.request(form(map[string]string{"product_name": fmt.Sprint("Product ", n)}), nil)
		r.Header.Set("Sec-Fetch-Site", c.site)
		r.Header.Set("Origin", c.origin)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("site %q, Origin %q: %d, want %d", c.site, c.origin, w.Code, c.want)
		}
	}
	if n := testdb.Value[int](s.db, `select count(*) from reports`); n != 5 {
		t.Errorf("%d reports, want 5", n)
	}
}
