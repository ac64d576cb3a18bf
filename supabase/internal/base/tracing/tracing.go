// Package tracing makes OpenTelemetry spans of requests, statements, function calls and jobs. It is
// off unless an endpoint is set. Spans hold no personal data: no address, query string, body,
// parameter of a statement or path below a service.
//
// Package otlp sends the spans of the stack's program. A process of functions sends its spans to
// that program (Forward), so that it does not contain an exporter.
package tracing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Provider makes spans. A nil Provider makes none, so that its users need not ask whether traces
// are on.
type Provider struct {
	sdk     *sdk.TracerProvider
	batches sdk.SpanProcessor // before the exporter
	tracer  trace.Tracer
	options Options
}

// Options configure Open.
type Options struct {
	Service string // service.name of the spans; OTEL_SERVICE_NAME has precedence
	Version string // service.version

	Exporter sdk.SpanExporter // nil turns traces off
	Delay    time.Duration    // how long a span waits for others; 0 means 5 s or OTEL_BSP_SCHEDULE_DELAY
}

// Open returns a Provider, or nil without an exporter. The variables of the OpenTelemetry SDK
// apply, such as OTEL_TRACES_SAMPLER. Close must be called.
func Open(ctx context.Context, o Options) (*Provider, error) {
	if o.Exporter == nil {
		return nil, nil
	}
	about, err := o.about(ctx)
	if err != nil {
		return nil, err
	}
	var batching []sdk.BatchSpanProcessorOption
	if o.Delay > 0 {
		batching = append(batching, sdk.WithBatchTimeout(o.Delay))
	}
	batches := sdk.NewBatchSpanProcessor(o.Exporter, batching...)
	provider := sdk.NewTracerProvider(sdk.WithSpanProcessor(batches), sdk.WithResource(about))
	return &Provider{provider, batches, provider.Tracer(scope), o}, nil
}

// scope is the name of the instrumentation in all spans.
const scope = "daawo"

// about returns the attributes of the program whose spans they are.
func (o Options) about(ctx context.Context) (*resource.Resource, error) {
	about, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", o.Service),
			attribute.String("service.version", o.Version)),
		resource.WithFromEnv(), resource.WithTelemetrySDK())
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	return about, nil
}

// Close sends the remaining spans.
func (p *Provider) Close(ctx context.Context) error {
	if p == nil {
		return nil
	}
	return p.sdk.Shutdown(ctx)
}

// Kind is the kind of a span.
type Kind = trace.SpanKind

// Kinds of spans.
const (
	Internal = trace.SpanKindInternal
	Server   = trace.SpanKindServer
	Client   = trace.SpanKindClient
	Consumer = trace.SpanKindConsumer
)

// Start begins a span below the span of ctx. end ends it; a non-nil error marks it as failed,
// without the text of the error.
func (p *Provider) Start(ctx context.Context, name string, kind Kind,
	attributes ...attribute.KeyValue) (_ context.Context, end func(error)) {
	if p == nil {
		return ctx, func(error) {}
	}
	ctx, span := p.tracer.Start(ctx, name, trace.WithSpanKind(kind), trace.WithAttributes(attributes...))
	return ctx, func(err error) {
		if err != nil && !errors.Is(err, context.Canceled) {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// Text returns an attribute.
func Text(name, value string) attribute.KeyValue { return attribute.String(name, value) }

var w3c propagation.TraceContext

// Traceparent returns the W3C trace context of ctx, "" without one.
func Traceparent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	w3c.Inject(ctx, carrier)
	return carrier["traceparent"]
}

// WithTraceparent returns ctx with a W3C trace context. A text that is none changes nothing.
func WithTraceparent(ctx context.Context, traceparent string) context.Context {
	if traceparent == "" {
		return ctx
	}
	return w3c.Extract(ctx, propagation.MapCarrier{"traceparent": traceparent})
}

// Handler makes a span of each request that continues the trace of the client, and gives next its
// trace context in ctx and in the header Traceparent.
func (p *Provider) Handler(next http.Handler) http.Handler {
	if p == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		route := service(r.URL.Path)
		ctx, span := p.tracer.Start(WithTraceparent(r.Context(), r.Header.Get("Traceparent")), method(r)+" "+route,
			trace.WithSpanKind(trace.SpanKindServer),
			trace.WithAttributes(attribute.String("http.request.method", method(r)),
				attribute.String("http.route", route)))
		r = r.WithContext(ctx)
		if traceparent := Traceparent(ctx); traceparent != "" {
			r.Header.Set("Traceparent", traceparent)
		}
		watched := &reply{ResponseWriter: w}
		defer func() {
			span.SetAttributes(attribute.Int("http.response.status_code", watched.status))
			if watched.status >= http.StatusInternalServerError || watched.status == 0 {
				span.SetStatus(codes.Error, "")
			}
			span.End()
		}()
		next.ServeHTTP(watched, r)
		watched.status = cmp.Or(watched.status, http.StatusOK)
	})
}

// service returns the part of a path that names a service: /rest/v1 of /rest/v1/notes. Other paths
// are those of the site.
func service(path string) string {
	parts := strings.SplitN(strings.TrimPrefix(path, "/"), "/", 3)
	if len(parts) > 1 && parts[1] == "v1" {
		return "/" + parts[0] + "/v1"
	}
	return "/"
}

// method limits the names of spans to the known methods.
func method(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions:
		return r.Method
	}
	return "_OTHER"
}

// reply records the status of a reply.
type reply struct {
	http.ResponseWriter
	status int
}

func (w *reply) WriteHeader(status int) {
	if w.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *reply) Write(b []byte) (int, error) {
	w.status = cmp.Or(w.status, http.StatusOK)
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController flush and hijack.
func (w *reply) Unwrap() http.ResponseWriter { return w.ResponseWriter }
