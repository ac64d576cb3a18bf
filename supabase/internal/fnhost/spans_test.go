package fnhost

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"daawo/functions/edge"
	"daawo/supabase/internal/db"
	"daawo/supabase/internal/outbox"
	"daawo/supabase/internal/testdb"
	"daawo/supabase/internal/tracing"

	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// keptSpans keeps spans after the shutdown.
type keptSpans struct{ *tracetest.InMemoryExporter }

func (keptSpans) Shutdown(context.Context) error { return nil }

// tracedDatabase returns a pool and an outbox on a database with a table notes.
func tracedDatabase(t *testing.T, traces *tracing.Provider) (*db.Pool, *outbox.Outbox) {
	t.Helper()
	tdb := testdb.New(t)
	tdb.Exec(`create table notes (text text); grant insert on notes to service_role`)
	pool, err := db.Open(t.Context(), db.Config{URL: tdb.URL("postgres"), Tracer: traces.Statements()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	box, err := outbox.New(outbox.Options{DB: pool})
	if err != nil {
		t.Fatal(err)
	}
	if err := box.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return pool, box
}

// TestSpans checks that a call, its statements, its request to another server and the job that it adds are one trace.
func TestSpans(t *testing.T) {
	memory := keptSpans{tracetest.NewInMemoryExporter()}
	traces, err := tracing.Open(t.Context(), tracing.Options{Service: "test", Exporter: memory})
	if err != nil {
		t.Fatal(err)
	}
	var sent string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { sent = r.Header.Get("Traceparent") }))
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
		Jobs: map[string]edge.Job{"later": {Run: func(context.Context, *edge.Env, []byte) error { done <- struct{}{}; return nil }}},
	}
	h := hosting(t, map[string]edge.Func{"note": f}, func(o *Options) { o.DB, o.Outbox, o.Traces = pool, box, traces })
	if err := box.Start(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	if w := serve(h, http.MethodPost, "/note", map[string]string{"Traceparent": traceparent}); w.Code != http.StatusNoContent {
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
