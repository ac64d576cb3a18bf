package gateway

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestRecord checks that the log for Studio gets the requests of the API, without what a client
// wrote freely.
func TestRecord(t *testing.T) {
	var got []Request
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
	h := New(Options{Functions: ok, Storage: ok, Site: ok, Keys: noKeys{}, Limits: Limits{Rate: -1, AuthRate: -1},
		Record: func(r Request) { got = append(got, r) }})
	for _, tt := range []struct{ path, service, want string }{
		{"/functions/v1/hello/a@example.org?name=Amina", "functions", "/functions/v1/hello"},
		{"/storage/v1/object/pictures/Amina.png", "storage", "/storage/v1/object/pictures"},
		{"/storage/v1/a%20free%20text", "storage", "/storage/v1/…"},
		{"/storage/v1/object/3b241101-e2bb-4255-8caf-4136c566a962", "storage", "/storage/v1/object/…"},
		{"/some/page", "", ""},
	} {
		got = nil
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, tt.path, nil))
		switch {
		case tt.service == "" && len(got) > 0:
			t.Errorf("%s: %+v", tt.path, got)
		case tt.service == "":
		case len(got) != 1 || got[0].Path != tt.want || got[0].Service != tt.service ||
			got[0].Status != http.StatusAccepted || got[0].ID == "" || got[0].Took <= 0:
			t.Errorf("%s: %+v", tt.path, got)
		}
	}
}

// noKeys is a KeySet without keys.
type noKeys struct{}

func (noKeys) Resolve(string) (Key, bool) { return Key{}, false }
