package resourcelist

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"daawo/supabase/edgetest"
)

func TestListAndDownload(t *testing.T) {
	f := edgetest.New(t, Func)
	db := edgetest.DB(t)
	f.DB = db
	db.Exec(`
		insert into public.resources (id, title, category, file_url, is_active) values
		  ('00000000-0000-4000-8000-000000000001', 'Shown', 'Safety', '/files/shown.pdf', true),
		  ('00000000-0000-4000-8000-000000000002', 'Hidden', 'Safety', '/files/hidden.pdf', false),
		  ('00000000-0000-4000-8000-000000000003', 'Elsewhere', 'Safety', 'https://elsewhere.example/x.pdf', true)`)
	reply := f.Call(http.MethodGet, "/resource-list?language=so", "")
	body := reply.Body.String()
	if reply.Code != http.StatusOK || !strings.Contains(body, "Shown") || strings.Contains(body, "Hidden") {
		t.Fatalf("%d: %s", reply.Code, body)
	}
	if strings.Contains(body, somali.notReviewed) || strings.Contains(body, "Hodan") {
		t.Error("resources without a guide have a review")
	}
	db.Exec(`
		update public.resources set guide = 'shown', file_language = 'so' where title = 'Shown';
		update public.guides set reviewed_by = 'Hodan', reviewed_role = 'Pharmacist', reviewed_on = '2026-11-27',
		  review_due = '2027-05-01'`)
	if body := f.Call(http.MethodGet, "/resource-list", "").Body.String(); !strings.Contains(body,
		"Reviewed by Hodan, Pharmacist, on 27 November 2026.") {
		t.Error(body)
	}
	if strings.Contains(f.Call(http.MethodGet, "/resource-list", "").Body.String(), english.FeaturedTitle) {
		t.Error("a resource is featured")
	}
	db.Exec(`update public.guides set is_featured = true`)
	if !strings.Contains(f.Call(http.MethodGet, "/resource-list", "").Body.String(), english.FeaturedTitle) {
		t.Error("a featured guide is not")
	}
	db.Exec(`update public.guides set title = 'Another'`)
	if body := f.Call(http.MethodGet, "/resource-list?language=so", "").Body.String(); !strings.Contains(body,
		somali.notReviewed) {
		t.Error(body)
	}
	for id, want := range map[string]int{"1": http.StatusSeeOther, "2": http.StatusNotFound, "3": http.StatusNotFound,
		"4": http.StatusNotFound} {
		form := url.Values{"resource": {"00000000-0000-4000-8000-00000000000" + id}}
		req := httptest.NewRequest(http.MethodPost, "/resource-list", strings.NewReader(form.Encode()))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		reply := f.Do(req)
		if reply.Code != want {
			t.Errorf("%s: %d, want %d", id, reply.Code, want)
		}
		if want == http.StatusSeeOther && reply.Header().Get("Location") != "/files/shown.pdf" {
			t.Errorf("%s: leads to %q", id, reply.Header().Get("Location"))
		}
	}
	const counts = `select string_agg(title || ' ' || download_count, ', ' order by id) from public.resources`
	if got := edgetest.Value[string](db, counts); got != "Shown 1, Hidden 0, Elsewhere 0" {
		t.Errorf("counted %s", got)
	}
}
