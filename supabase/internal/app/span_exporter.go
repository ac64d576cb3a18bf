package app

import (
	"context"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// openSpanExporter returns an exporter to the receiver with this base URL
// (OTEL_EXPORTER_OTLP_ENDPOINT), nil for "". The further variables of the exporter apply, such as
// OTEL_EXPORTER_OTLP_HEADERS. It is not in package tracing, because the exporter brings gRPC and
// Protocol Buffers, with which a process of functions would take longer to link.
func openSpanExporter(ctx context.Context, endpoint string) (sdk.SpanExporter, error) {
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
