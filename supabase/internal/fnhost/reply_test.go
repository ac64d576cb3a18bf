package fnhost

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"daawo/functions/edge"

	"github.com/prometheus/client_golang/prometheus"
)

// TestPartialReply checks that a function which fails after a part of its reply aborts the connection, so that the client does not
// take the part for the whole, and that the call is counted as 500.
func TestPartialReply(t *testing.T) {
	half := func(w http.ResponseWriter) {
		_, _ = io.WriteString(w, `{"half":`)
		_ = http.NewResponseController(w).Flush()
	}
	registry := prometheus.NewRegistry()
	h := hosting(t, map[string]edge.Func{
		"fails":  {NoVerifyJWT: true, Handler: func(w http.ResponseWriter, _ *http.Request, _ *edge.Env) error { half(w); return errors.New("x") }},
		"panics": {NoVerifyJWT: true, Handler: func(w http.ResponseWriter, _ *http.Request, _ *edge.Env) error { half(w); panic("x") }},
		"aborts": {NoVerifyJWT: true, Handler: func(http.ResponseWriter, *http.Request, *edge.Env) error { panic(http.ErrAbortHandler) }},
		"whole":  {NoVerifyJWT: true, Handler: func(w http.ResponseWriter, _ *http.Request, _ *edge.Env) error { half(w); return nil }},
	}, func(o *Options) { o.Meter = registry })
	server := httptest.NewServer(h)
	defer server.Close()
	for name, whole := range map[string]bool{"fails": false, "panics": false, "aborts": false, "whole": true} {
		res, err := http.Get(server.URL + "/" + name)
		if err == nil {
			_, err = io.ReadAll(res.Body)
			res.Body.Close()
		}
		if (err == nil) != whole {
			t.Errorf("%s: the client gets %v", name, err)
		}
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	counted := map[string]bool{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			var labels []string // in the order of their names
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetValue())
			}
			counted[strings.Join(labels, " ")] = true
		}
	}
	for function, status := range map[string]string{"fails": "500", "panics": "500", "aborts": "500", "whole": "200"} {
		if !counted[function+" "+status] {
			t.Errorf("%s is not counted with status %s: %v", function, status, counted)
		}
	}
}
