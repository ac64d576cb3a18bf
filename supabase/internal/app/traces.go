package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"daawo/supabase/internal/base/tracing"
)

// openTraces begins to send traces, if an endpoint is set.
func openTraces(ctx context.Context, a *App) error {
	exporter, err := traceExporter(ctx, a.Config.TracesURL)
	if err != nil {
		return err
	}
	a.traces, err = tracing.Open(ctx, tracing.Options{Service: "daawo", Version: a.Version, Exporter: exporter})
	a.pools.traces = a.traces
	a.OnClose("traces", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second) // the receiver may be away
		defer cancel()
		if err := a.traces.Close(ctx); err != nil {
			a.Log.Warn("the last spans were not sent", "error", err)
		}
		return nil
	})
	return err
}

// traceExporter returns an exporter to the OTLP receiver with this base URL
// (OTEL_EXPORTER_OTLP_ENDPOINT), nil for "". The further variables of the exporter apply, such as
// OTEL_EXPORTER_OTLP_HEADERS. It is not in package tracing because processes of functions would
// take longer to link: it brings gRPC and Protocol Buffers.
func traceExporter(ctx context.Context, endpoint string) (sdk.SpanExporter, error) {
	if endpoint == "" {
		return nil, nil
	}
	exporter, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(strings.TrimRight(endpoint, "/")+"/v1/traces"))
	if err != nil {
		return nil, fmt.Errorf("traces: %w", err)
	}
	return exporter, nil
}
