package acceptance

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzFormAndJSON checks that no body causes a 5xx status or invalid JSON.
func FuzzFormAndJSON(f *testing.F) {
	s := newSite(f)
	f.Add("application/json", `{"product_name":"x","issue_description":"y"}`)
	f.Add("application/json", `{"product_name":"\u0000","issue_description":"\ud800","expiry_date":"0000-00-00"}`)
	f.Add("multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"phone\"\r\n\r\n1\r\n--b--")
	f.Add("application/x-www-form-urlencoded", "phone=%00&product_name=%ff&issue_description=x&location=Hodan")
	f.Fuzz(func(t *testing.T, kind, body string) {
		r := httptest.NewRequest(http.MethodPost, "/submit-report", strings.NewReader(body))
		r.Header.Set("Content-Type", kind)
		r.RemoteAddr = ""
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Errorf("%d %s for %q %q", w.Code, w.Body, kind, body)
		}
		if w.Header().Get("Content-Type") == "application/json" && !json.Valid(w.Body.Bytes()) {
			t.Errorf("not JSON: %s", w.Body)
		}
	})
}
