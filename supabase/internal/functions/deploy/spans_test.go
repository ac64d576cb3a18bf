package deploy

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/internal/base/tracing"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/functions/host"
	"daawo/supabase/internal/functions/jobs"

	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// keptSpans keeps spans after the shutdown.
type keptSpans struct{ *tracetest.InMemoryExporter }

func (keptSpans) Shutdown(context.Context) error { return nil }

// tracedDatabase returns a pool and an outbox on a database with a table notes.
func tracedDatabase(t *testing.T, traces *tracing.Provider) (*pool.Pool, *jobs.Outbox) {
	t.Helper()
	tdb := testdb.New(t)
	tdb.Exec(`create table notes (text text); grant insert on notes to service_role`)
	pool, err := pool.Open(t.Context(), pool.Config{URL: tdb.TCPURL("postgres"), Tracer: traces.Statements()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	box, err := jobs.New(jobs.Options{DB: pool})
	if err != nil {
		t.Fatal(err)
	}
	if err := box.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return pool, box
}

// TestSpans checks that a call, its statements, its request to another server and the job that it
// adds are one trace.
func TestSpans(t *testing.T) {
	memory := keptSpans{tracetest.NewInMemoryExporter()}
	traces, err := tracing.Open(t.Context(), tracing.Options{Service: "test", Exporter: memory})
	if err != nil {
		t.Fatal(err)
	}
	var sent string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter,
		r *http.Request) {
		sent = r.Header.Get("Traceparent")
	}))
	defer other.Close()
	pool, box := tracedDatabase(t, traces)
	done := make(chan struct{}, 1)
	f := edge.Func{
		NoVerifyJWT: true,
		JSON: edge.JSON(func(r *http.Request, env *edge.Env, _ edge.None) (edge.None, error) {
			req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, other.URL+"/secret", nil)
			if err != nil {
				return edge.None{}, err
			}
			res, err := env.HTTP().Do(req)
			if err != nil {
				return edge.None{}, err
			}
			_ = res.Body.Close()
			return edge.None{}, env.Tx(r.Context(), edge.Service, func(tx pgx.Tx) error {
				if _, err := tx.Exec(r.Context(), `insert into notes values ('secret')`); err != nil {
					return err
				}
				return env.Enqueue(r.Context(), tx, "later", nil)
			})
		}),
		Jobs: map[string]edge.Job{"later": {Run: func(context.Context, *edge.Env,
			[]byte) error {
			done <- struct{}{}
			return nil
		}}},
	}
	h := hosting(t, map[string]edge.Func{"note": f},
		func(o *host.Options) { o.DB, o.Outbox, o.Traces = pool, box, traces })
	if err := box.Start(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	if w := serve(h, http.MethodPost, "/note",
		map[string]string{"Traceparent": traceparent}); w.Code != http.StatusNoContent {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("the job did not run")
	}
	if err := box.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if err := traces.Close(context.Background()); err != nil {
		t.Error(err)
	}
	checkSpans(t, memory.GetSpans(), traceparent, other.Listener.Addr().String())
	if len(sent) != len(traceparent) || sent[3:35] != traceparent[3:35] || sent == traceparent {
		t.Errorf("the other server got %q", sent)
	}
}

// TestDeployedSpans checks the same for a deployed function: the parent exports the spans of its
// process, and runs its job.
func TestDeployedSpans(t *testing.T) {
	t.Parallel()
	program := bundle(t, "traced") // first, because its test takes long enough
	memory := keptSpans{tracetest.NewInMemoryExporter()}
	traces, err := tracing.Open(t.Context(), tracing.Options{Service: "test", Exporter: memory})
	if err != nil {
		t.Fatal(err)
	}
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	pool, box := tracedDatabase(t, traces)
	d := newDeployServer(t)
	parent := host.NewParentServer(hosting(t, nil, func(o *host.Options) { o.Traces = traces }))
	if d.parent, err = parent.Address(); err != nil {
		t.Fatal(err)
	}
	d.child = func(c *host.ChildConfig) {
		c.Database, c.Spans, c.Env = pool.Pgx().Config().ConnString(), true, map[string]string{"OTHER_URL": other.URL}
	}
	if _, err := d.Deploy(t.Context(), bytes.NewReader(program), "", false); err != nil {
		t.Fatal(err)
	}
	if err := box.Start(t.Context(), d.Deployer); err != nil {
		t.Fatal(err)
	}
	const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	if w := serve(d.Deployer, http.MethodPost, "/note",
		map[string]string{"Traceparent": traceparent}); w.Code != http.StatusOK {
		t.Fatalf("%d %s\n%s", w.Code, w.Body, d.logged())
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var done int
		const q = `select count(*) from river.river_job where state = 'completed'`
		if err := pool.Pgx().QueryRow(t.Context(), q).Scan(&done); err != nil || time.Now().After(deadline) {
			t.Fatalf("the job did not run: %v\n%s", err, d.logged())
		}
		if done == 1 {
			break
		}
	}
	ctx := context.Background()
	// the process sends its last spans
	if err := errors.Join(box.Close(ctx), d.Close(ctx), parent.Close(ctx), traces.Close(ctx)); err != nil {
		t.Error(err)
	}
	spans := memory.GetSpans()
	checkSpans(t, spans, traceparent, other.Listener.Addr().String())
	for _, s := range spans {
		if s.Name == "function note" && !strings.Contains(s.Resource.String(), "service.name=functions") {
			t.Errorf("the span of the function is one of %s", s.Resource)
		}
	}
}

// checkSpans checks the names and parents of the spans of a trace.
func checkSpans(t *testing.T, spans tracetest.SpanStubs, traceparent, other string) {
	t.Helper()
	names := map[string]string{} // of the spans of the trace, with the name of their parent
	ids := map[string]string{}
	for _, s := range spans {
		ids[s.SpanContext.SpanID().String()] = s.Name
	}
	for _, s := range spans {
		if s.SpanContext.TraceID().String() == traceparent[3:35] {
			names[s.Name] = ids[s.Parent.SpanID().String()]
		}
	}
	call := "function note"
	for name, below := range map[string]string{call: "", "INSERT": call, "GET " + other: call, "note later": call} {
		if got, ok := names[name]; !ok || got != below {
			t.Errorf("span %q is below %q, want %q; all: %v", name, got, below, names)
		}
	}
}
