package compare

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestReplies checks that ids and times of two servers compare equal and that other members do not.
func TestReplies(t *testing.T) {
	serve := func(id, name string) *Server {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "/x/"+id)
			body, _ := io.ReadAll(r.Body)
			_, _ = fmt.Fprintf(w, `{"id":%q,"at":"2026-11-2%cT00:00:00Z","name":%q,"list":[{"id":%q}],"asked":%q}`, id,
				id[0], name, id, r.URL.Path+string(body))
		}))
		t.Cleanup(s.Close)
		return &Server{Address: s.URL, Headers: []string{"Location"}, Client: NewClient()}
	}
	first := Request{Method: "POST", Path: "/a", Body: "${none}", Keep: map[string]string{"me": "list.0.id"}}
	second := Request{Method: "GET", Path: "/${me}"}
	known := List{{Request: "GET /", Place: `body\.name`, Reason: "x"}, {Request: "PUT", Place: "status", Reason: "y"}}
	a, b := serve("1f0e8a5c-0000-4000-8000-000000000001", "a"), serve("2f0e8a5c-0000-4000-8000-000000000002", "b")
	for _, c := range []struct {
		q          Request
		found, new int
	}{{first, 1, 1}, {second, 1, 0}} {
		ours, err := a.Send(c.q)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := b.Send(c.q)
		if err != nil {
			t.Fatal(err)
		}
		found := Replies(ours, theirs)
		if unknown, _ := known.Unknown(c.q, found); len(found) != c.found || len(unknown) != c.new {
			t.Errorf("%v, unknown %v", found, unknown)
		}
	}
	if unseen := known.Unseen(); len(unseen) != 1 {
		t.Errorf("%v", unseen)
	}
}
