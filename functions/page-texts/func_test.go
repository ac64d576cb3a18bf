package pagetexts

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"daawo/supabase/edgetest"
)

// TestReviews checks that a page gets the sign-off of its guide, unless the guide has no shown file
// or the page's text is newer.
func TestReviews(t *testing.T) {
	f := edgetest.New(t, Func)
	db := edgetest.DB(t)
	f.DB = db
	db.Exec(`
		insert into public.resources (title, category, guide, is_active) values
		  ('Pain', 'Safety', 'pain', true), ('Labels', 'Safety', 'labels', true), ('Hidden', 'Safety', 'hidden', false);
		update public.guides set reviewed_by = 'Hodan <W>', reviewed_role = 'Pharmacist', reviewed_on = '2026-11-27',
		  review_due = '2027-05-01' where slug in ('pain', 'hidden')`)
	query := url.Values{"key": {"guide-review/pain/en/2026-11-22", "guide-review/pain/so/2026-11-27",
		"guide-review/pain/en/2026-11-28", "guide-review/labels/en/2026-11-22", "guide-review/hidden/en/2026-11-22",
		"guide-review/pain/fr/2026-11-22", "guide-review/pain", "other"}}
	reply := f.Call(http.MethodGet, "/page-texts?"+query.Encode(), "")
	var texts map[string]string
	if err := json.Unmarshal(reply.Body.Bytes(), &texts); reply.Code != http.StatusOK || err != nil {
		t.Fatal(reply.Code, reply.Body)
	}
	want := map[string]string{
		"guide-review/pain/en/2026-11-22": "Reviewed by Hodan <W>, Pharmacist, on 27 November 2026. Next review: 1 May 2027.",
		"guide-review/pain/so/2026-11-27": "Waxaa dib u eegay Hodan <W>, Pharmacist, 27 Noofeembar 2026. Dib u eegista xigta: 1 Maayo 2027.",
	}
	if len(texts) != len(want) {
		t.Errorf("%q", texts)
	}
	for key, text := range want {
		if texts[key] != text {
			t.Errorf("%s: %q", key, texts[key])
		}
	}
	many := url.Values{"key": make([]string, maxKeys+1)}
	if reply := f.Call(http.MethodGet, "/page-texts?"+many.Encode(), ""); reply.Code != http.StatusBadRequest {
		t.Error("too many keys:", reply.Code)
	}
}
