package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/engine/storage/backend"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// stack is an engine with its own database and folder.
type stack struct {
	t       testing.TB
	db      *testdb.DB
	engine  *Engine
	options Options
	server  *httptest.Server
	dir     string
	demo    keys.Set
}

func newStack(t testing.TB, change ...func(*Options)) *stack {
	t.Helper()
	s := &stack{t: t, db: testdb.New(t), dir: t.TempDir(), demo: keys.Demo()}
	pool, err := pool.Open(t.Context(), pool.Config{URL: s.db.URL("supabase_storage_admin"), MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	disk, err := backend.OpenDisk(backend.DiskConfig{Path: s.dir, Bucket: "stub", Tenant: "stub"})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Config: Config{FileSizeLimit: 50 << 20, ImageTransformation: true, S3: true,
		TUSPath: "/upload/resumable", S3AccessKeyID: "access", S3SecretAccessKey: "secret-of-the-test",
		S3SessionKey: "stub", S3AnonKey: s.demo.Anon, S3Region: "local"},
		Pool: pool, Backend: disk, Verifier: keys.NewVerifier(keys.Options{}, s.demo.Verifying()...),
		URLSecret: []byte(s.demo.JWTSecret), Log: slog.New(slog.NewTextHandler(testWriter{t}, nil))}
	for _, fn := range change {
		fn(&o)
	}
	s.options = o
	if s.engine, err = New(o); err != nil {
		t.Fatal(err)
	}
	s.engine.Claim(t.Context())
	t.Cleanup(func() {
		pool.Close()
		disk.Close()
	})
	s.serve(s.engine)
	return s
}

// serve makes the requests of the test go to an engine.
func (s *stack) serve(engine *Engine) {
	server := httptest.NewServer(engine)
	s.server = server
	s.t.Cleanup(func() {
		server.Close()
		engine.Close(context.Background())
	})
}

// replica starts a second engine on the same database and, unless change replaces it, the same
// backend.
func (s *stack) replica(change ...func(*Options)) *httptest.Server {
	s.t.Helper()
	o := s.options
	for _, fn := range change {
		fn(&o)
	}
	engine, err := New(o)
	if err != nil {
		s.t.Fatal(err)
	}
	server := httptest.NewServer(engine)
	s.t.Cleanup(func() {
		server.Close()
		engine.Close(context.Background())
	})
	return server
}

type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

// reply is a response with its body read.
type reply struct {
	*http.Response
	body []byte
}

func (r reply) field(name string) string {
	var doc map[string]any
	if json.Unmarshal(r.body, &doc) != nil {
		return ""
	}
	s, _ := doc[name].(string)
	return s
}

// do sends a request with a token ("" sends none). Headers are pairs of name and value.
func (s *stack) do(token, method, path string, body any, headers ...string) reply {
	s.t.Helper()
	var r io.Reader
	kind := ""
	switch b := body.(type) {
	case nil:
	case string:
		r = strings.NewReader(b)
	case []byte:
		r = bytes.NewReader(b)
	case io.Reader:
		r = b
	default:
		data, err := json.Marshal(b)
		if err != nil {
			s.t.Fatal(err)
		}
		r, kind = bytes.NewReader(data), "application/json"
	}
	req, err := http.NewRequest(method, s.server.URL+path, r)
	if err != nil {
		s.t.Fatal(err)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return s.send(req)
}

// send sends a request unchanged and reads the whole reply.
func (s *stack) send(req *http.Request) reply {
	s.t.Helper()
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return reply{res, data}
}

// user returns a token of an authenticated user.
func (s *stack) user(id string) string {
	s.t.Helper()
	token, err := s.demo.Signer().Sign(json.RawMessage(`{"role":"authenticated","sub":"` + id + `","exp":4102444800}`))
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// want fails the test unless the reply has the status and its body contains text.
func (r reply) want(t testing.TB, status int, text string) reply {
	t.Helper()
	if r.StatusCode != status || !bytes.Contains(r.body, []byte(text)) {
		t.Fatalf("%s %s: %d %s\nwant %d with %s", r.Request.Method, r.Request.URL.Path, r.StatusCode, r.body, status,
			text)
	}
	return r
}

func (s *stack) bucket(name string, public bool) {
	s.t.Helper()
	s.do(s.demo.ServiceRole, "POST", "/bucket", map[string]any{"name": name, "public": public}).want(s.t, 200, name)
}
