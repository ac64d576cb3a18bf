package app

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// receiver is an OTLP receiver of a test.
type receiver struct {
	mu    sync.Mutex
	spans []*traces.Span
}

func (c *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = unzipped
	}
	var sent collector.ExportTraceServiceRequest
	text, err := io.ReadAll(body)
	if err == nil {
		err = proto.Unmarshal(text, &sent)
	}
	if err != nil || r.URL.Path != "/v1/traces" {
		http.Error(w, fmt.Sprint(r.URL, err), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range sent.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

// TestTraces sends requests with a traceparent to a stack that sends OTLP, and checks the spans of
// each trace: the gateway's below the client's, then the statements of the engine, or the function
// with its statements and its job. No span holds a value of the client.
func TestTraces(t *testing.T) {
	received := &receiver{}
	server := httptest.NewServer(received)
	t.Cleanup(server.Close)
	a := newApp(t, dataFolder(t), map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL})
	info := startTraced(t, a)
	const span = "b7ad6b7169203331"
	trace := func(n int) string { return fmt.Sprintf("0af7651916cd43dd8448eb211c8031%02x", n) }
	requests := []struct {
		method, path, body string
		route, below       string // a span below the route's, "" for none but the route's own
	}{
		{"GET", "/rest/v1/notes?text=eq.Amina", "", "GET /rest/v1", "BATCH|SELECT|WITH"},
		{"POST", "/rest/v1/notes", `{"text":"Amina"}`, "POST /rest/v1", "BATCH|INSERT|WITH"},
		{"POST", "/auth/v1/admin/users", `{"email":"amina@example.org","password":"a-long-password"}`, "POST /auth/v1",
			"INSERT"},
		{"POST", "/storage/v1/object/avatars/amina.png", onePixel, "POST /storage/v1", "INSERT|BATCH|SELECT"},
		{"POST", "/functions/v1/add-note", `{"text":"Amina"}`, "POST /functions/v1", "function add-note"},
	}
	for n, r := range requests {
		kind := "application/json"
		if r.body == onePixel {
			kind = "image/png"
		}
		if status, body := call(t, r.method, info.Get("API_URL")+r.path, r.body, "apikey", info.Get("SECRET_KEY"),
			"Content-Type", kind, "Traceparent", "00-"+trace(n)+"-"+span+"-01"); status >= 300 {
			t.Errorf("%s %s: %d %s", r.method, r.path, status, body)
		}
	}
	waitFor(t, "the job", func() bool {
		_, body := call(t, "GET", info.Get("MAILPIT_URL")+"/api/v1/messages", "")
		return strings.Contains(body, "See notes Amina")
	})
	if err := a.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	for n, r := range requests {
		received.check(t, trace(n), span, r.route, r.below)
	}
	if all := fmt.Sprint(received.spans); strings.Contains(strings.ToLower(all), "amina") {
		t.Error("a span holds a value of the client")
	}
}

// check checks that the trace has a span of the route below the client's, and below the
// route's one of the names.
func (c *receiver) check(t *testing.T, trace, client, route, names string) {
	t.Helper()
	byID, all := map[string]*traces.Span{}, []string{}
	for _, s := range c.spans {
		if fmt.Sprintf("%x", s.TraceId) == trace {
			byID[fmt.Sprintf("%x", s.SpanId)] = s
			all = append(all, s.Name)
		}
	}
	var root, below bool
	for _, s := range byID {
		parent := fmt.Sprintf("%x", s.ParentSpanId)
		root = root || s.Name == route && parent == client
		above := byID[parent]
		for name := range strings.SplitSeq(names, "|") {
			below = below || s.Name == name && above != nil && above.Name == route
		}
		if above == nil && parent != client {
			t.Errorf("%s: span %s has no parent", route, s.Name)
		}
	}
	if !root || !below {
		t.Errorf("%s: the gateway's span is below the client's: %t; a span of the engine is below that: %t; all: %v",
			route, root, below, all)
	}
	if strings.Contains(route, "functions") && !slices.Contains(all, "job notify_by_mail") {
		t.Errorf("the job of the function is not in its trace: %v", all)
	}
}

// startTraced starts a stack whose test closes it.
func startTraced(t *testing.T, a *App) Info {
	t.Helper()
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close(context.Background()) })
	return a.Info()
}

// TestTracesRefused checks that a start ends without leaving anything if the settings of traces are
// wrong.
func TestTracesRefused(t *testing.T) {
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "no equals sign")
	a := newApp(t, dataFolder(t), map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"})
	if err := a.Start(t.Context()); err == nil {
		t.Error("the start succeeded")
	}
	if a.Running() > 0 {
		t.Errorf("%d parts still run", a.Running())
	}
}
