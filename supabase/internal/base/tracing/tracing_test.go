package tracing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
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

// TestHandlerContinuesTrace checks that a request and a statement are spans of the client's trace
// and hold no personal data.
func TestHandlerContinuesTrace(t *testing.T) {
	p, ended := spans(t)
	var inside string
	h := p.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inside = r.Header.Get("Traceparent")
		s := p.Statements()
		ctx := s.TraceQueryStart(r.Context(), nil,
			pgx.TraceQueryStartData{SQL: `select * from notes where owner = 'Amina' and age > 42 and x = $1`,
				Args: []any{"secret"}})
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
	if request.Name != "GET /rest/v1" || query.Name != "SELECT" ||
		query.Parent.SpanID() != request.SpanContext.SpanID() ||
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

// TestForward checks that spans which another process forwards are exported as it made them, with
// its name, and that a wrong text is refused.
func TestForward(t *testing.T) {
	here, ended := spans(t)
	direct := &kept{InMemoryExporter: tracetest.NewInMemoryExporter()}
	forwarding := Forward(func(ctx context.Context, text []byte) error {
		return here.Take(ctx, "functions", bytes.NewReader(text))
	})
	there, err := Open(t.Context(), Options{Service: "functions", Exporter: both{direct, forwarding}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := there.Start(WithTraceparent(t.Context(), parent), "call", Server, Text("faas.name", "note"))
	s := there.Statements().(statements)
	var batch pgx.Batch
	batch.Queue(`select 1`)
	inside := s.TraceBatchStart(ctx, nil, pgx.TraceBatchStartData{Batch: &batch})
	s.TraceBatchQuery(inside, nil, pgx.TraceBatchQueryData{SQL: `select 1`})
	s.TraceBatchEnd(inside, nil, pgx.TraceBatchEndData{Err: errors.New("x")})
	end(nil)
	if err := there.Close(context.Background()); err != nil {
		t.Error(err)
	}
	for _, wrong := range []string{"{", `{"trace":"x"}`,
		`{"trace":"0af7651916cd43dd8448eb211c80319c","id":"0000000000000000"}`} {
		if err := here.Take(t.Context(), "functions", strings.NewReader(wrong)); err == nil {
			t.Errorf("takes %s", wrong)
		}
	}
	got, want := ended(), direct.GetSpans()
	if len(got) != 2 || len(want) != 2 {
		t.Fatalf("%d spans, want %d", len(got), len(want))
	}
	for n := range got {
		if a, b := shown(t, got[n]), shown(t, want[n]); a != b {
			t.Errorf("got  %s\nwant %s", a, b)
		}
		if !got[n].EndTime.Equal(want[n].EndTime) || !got[n].StartTime.Equal(want[n].StartTime) {
			t.Errorf("%s: other times", got[n].Name)
		}
	}
	if (*Provider)(nil).Take(t.Context(), "functions", strings.NewReader("{")) != nil {
		t.Error("without traces Take fails")
	}
}

// both exports spans twice.
type both [2]sdk.SpanExporter

func (b both) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	return errors.Join(b[0].ExportSpans(ctx, spans), b[1].ExportSpans(ctx, spans))
}

func (b both) Shutdown(ctx context.Context) error {
	return errors.Join(b[0].Shutdown(ctx), b[1].Shutdown(ctx))
}

// shown returns a span as text, without its times.
func shown(t *testing.T, s tracetest.SpanStub) string {
	t.Helper()
	text := fmt.Sprint(s.Name, s.SpanKind, s.Status, s.SpanContext.TraceID(), s.SpanContext.SpanID(),
		s.SpanContext.TraceFlags(), s.Parent.SpanID(), s.Parent.TraceID(), s.Parent.IsRemote(), s.Resource,
		s.InstrumentationScope.Name, sorted(s.Attributes))
	for _, e := range s.Events {
		text += fmt.Sprint(e.Name, sorted(e.Attributes))
	}
	return text
}

func sorted(attributes []attribute.KeyValue) string {
	set := attribute.NewSet(attributes...)
	return set.Encoded(attribute.DefaultEncoder())
}

// TestForwardInParts checks that a long list of spans is sent in parts below the limit.
func TestForwardInParts(t *testing.T) {
	parts, longest := 0, 0
	p, err := Open(t.Context(),
		Options{Service: "functions", Exporter: Forward(func(_ context.Context, text []byte) error {
			parts, longest = parts+1, max(longest, len(text))
			return nil
		})})
	if err != nil {
		t.Fatal(err)
	}
	for range 40 {
		_, end := p.Start(t.Context(), strings.Repeat("x", 100<<10), Internal)
		end(nil)
	}
	if err := p.Close(context.Background()); err != nil || parts < 4 || parts > 6 || longest > ForwardSize {
		t.Errorf("%d parts of at most %d bytes: %v", parts, longest, err)
	}
}

// TestForwardDropsSpans checks that a span that is too long, or has no JSON, is dropped with its
// own error, and that others are sent.
func TestForwardDropsSpans(t *testing.T) {
	tooLate := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) // JSON has years up to 9999
	for words, dropped := range map[string]tracetest.SpanStub{
		"the limit is 4194304":  {Name: strings.Repeat("x", ForwardSize)},
		"year outside of range": {Name: "x", EndTime: tooLate},
	} {
		var sent []byte
		exporter := Forward(func(_ context.Context, text []byte) error { sent = append(sent, text...); return nil })
		stubs := tracetest.SpanStubs{dropped, {Name: "short"}}
		err := exporter.ExportSpans(t.Context(), stubs.Snapshots())
		if err == nil || strings.Count(err.Error(), "traces:") != 1 || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want only %q", err, words)
		}
		if lines := bytes.Split(bytes.TrimSpace(sent), []byte("\n")); len(lines) != 1 ||
			!bytes.Contains(lines[0], []byte(`"name":"short"`)) {
			t.Errorf("%s: sent %.200q", words, sent)
		}
	}
}

// TestOff checks that a nil Provider changes nothing and that traceparent is passed on all the
// same.
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
