package tracing

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/goleak"

	"github.com/jackc/pgx/v5"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// spans returns a provider and a function that ends it and returns its spans.
func spans(t *testing.T) (*Provider, func() tracetest.SpanStubs) {
	t.Helper()
	memory := &kept{InMemoryExporter: tracetest.NewInMemoryExporter()}
	p, err := Open(t.Context(), Options{Service: "test", Exporter: memory})
	if err != nil {
		t.Fatal(err)
	}
	return p, func() tracetest.SpanStubs {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
		return memory.GetSpans()
	}
}

// kept keeps its spans after the shutdown.
type kept struct{ *tracetest.InMemoryExporter }

func (kept) Shutdown(context.Context) error { return nil }

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// TestHandlerContinuesTrace checks that a request and a statement are spans of the client's trace and hold no personal data.
func TestHandlerContinuesTrace(t *testing.T) {
	p, ended := spans(t)
	var inside string
	h := p.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inside = r.Header.Get("Traceparent")
		s := p.Statements()
		ctx := s.TraceQueryStart(r.Context(), nil, pgx.TraceQueryStartData{SQL: `select * from notes where owner = 'Amina' and age > 42 and x = $1`, Args: []any{"secret"}})
		s.TraceQueryEnd(ctx, nil, pgx.TraceQueryEndData{Err: errors.New("secret")})
		w.WriteHeader(http.StatusBadGateway)
	}))
	r := httptest.NewRequest(http.MethodGet, "/rest/v1/notes?owner=eq.Amina", nil)
	r.Header.Set("Traceparent", parent)
	h.ServeHTTP(httptest.NewRecorder(), r)
	got := ended()
	if len(got) != 2 || !strings.Contains(inside, got[1].SpanContext.SpanID().String()) {
		t.Fatalf("%d spans; the handler saw %s", len(got), inside)
	}
	query, request := got[0], got[1]
	if request.Name != "GET /rest/v1" || query.Name != "SELECT" || query.Parent.SpanID() != request.SpanContext.SpanID() ||
		request.SpanContext.TraceID().String() != "0af7651916cd43dd8448eb211c80319c" {
		t.Errorf("%+v\n%+v", request, query)
	}
	for _, span := range got {
		for _, a := range span.Attributes {
			for _, secret := range []string{"Amina", "secret", "42"} {
				if strings.Contains(a.Value.String(), secret) {
					t.Errorf("%s of %s holds %s", a.Key, span.Name, secret)
				}
			}
		}
		if span.Status.Code.String() != "Error" || span.Status.Description != "" {
			t.Errorf("%s: %+v", span.Name, span.Status)
		}
	}
}

// TestOff checks that a nil Provider changes nothing and that traceparent is passed on all the same.
func TestOff(t *testing.T) {
	p, err := Open(t.Context(), Options{})
	if err != nil || p != nil || p.Statements() != nil || p.Close(t.Context()) != nil {
		t.Errorf("%v %v", p, err)
	}
	ctx, end := p.Start(WithTraceparent(t.Context(), parent), "x", Internal)
	end(nil)
	if Traceparent(ctx) != parent || Traceparent(WithTraceparent(t.Context(), "nonsense")) != "" {
		t.Errorf("traceparent: %s", Traceparent(ctx))
	}
}

func TestWithoutLiterals(t *testing.T) {
	for sql, want := range map[string]string{
		`select a1, $1 from t2 where x = 'it''s' and y=3.5`: `select a1, $1 from t2 where x = ? and y=?`,
		`select $q$ 'secret' $q$, $2`:                       `select ?, $2`,
		`select E'a\'b', 17`:                                `select E?, ?`,
		`limit 10`:                                          `limit ?`,
	} {
		if got := withoutLiterals(sql); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
	if n := len(withoutLiterals(strings.Repeat("é", maxStatement))); n > maxStatement {
		t.Error(n)
	}
}
