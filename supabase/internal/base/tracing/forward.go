package tracing

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
)

// ForwardSize is the largest text that an exporter of Forward sends, in bytes. A longer span is
// dropped.
const ForwardSize = 4 << 20

// forwardPart is the size of the text from which Forward sends it.
const forwardPart = 1 << 20

// Forward returns an exporter that gives spans to send as a text for Provider.Take of another
// process.
func Forward(send func(ctx context.Context, spans []byte) error) sdk.SpanExporter {
	return forward{send}
}

type forward struct {
	send func(context.Context, []byte) error
}

// ExportSpans is part of sdk.SpanExporter.
func (f forward) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	var text bytes.Buffer
	var failed error
	flush := func() {
		if text.Len() > 0 {
			failed = errors.Join(failed, f.send(ctx, text.Bytes()))
			text.Reset()
		}
	}
	for _, s := range spans {
		line, err := json.Marshal(encodeSpan(s))
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("traces: a span was dropped: %w", err))
			continue
		}
		if len(line) >= ForwardSize {
			failed = errors.Join(failed,
				fmt.Errorf("traces: a span of %d bytes was dropped, the limit is %d", len(line), ForwardSize))
			continue
		}
		if text.Len()+len(line) >= forwardPart {
			flush()
		}
		text.Write(line)
		text.WriteByte('\n')
	}
	flush()
	return failed
}

// Shutdown is part of sdk.SpanExporter.
func (forward) Shutdown(context.Context) error { return nil }

// span is a span in the text of Forward, one JSON object a line.
type span struct {
	Trace      string         `json:"trace"`
	ID         string         `json:"id"`
	Parent     string         `json:"parent,omitempty"`
	Remote     bool           `json:"remote,omitempty"` // the parent is a span of another process
	State      string         `json:"state,omitempty"`  // tracestate of the W3C trace context
	Flags      byte           `json:"flags"`
	Name       string         `json:"name"`
	Kind       Kind           `json:"kind"`
	Start      time.Time      `json:"start"`
	End        time.Time      `json:"end"`
	Failed     bool           `json:"failed,omitempty"`
	Attributes map[string]any `json:"attributes,omitempty"`
	Events     []event        `json:"events,omitempty"`
	Dropped    int            `json:"dropped,omitempty"` // events beyond the limit of the SDK
}

type event struct {
	Name       string         `json:"name"`
	Time       time.Time      `json:"time"`
	Attributes map[string]any `json:"attributes,omitempty"`
}

func encodeSpan(s sdk.ReadOnlySpan) span {
	at, parent := s.SpanContext(), ""
	if s.Parent().SpanID().IsValid() {
		parent = s.Parent().SpanID().String()
	}
	out := span{
		Trace: at.TraceID().String(), ID: at.SpanID().String(), Parent: parent, Remote: s.Parent().IsRemote(),
		State: at.TraceState().String(), Flags: byte(at.TraceFlags()), Name: s.Name(), Kind: s.SpanKind(),
		Start: s.StartTime(), End: s.EndTime(), Failed: s.Status().Code == codes.Error,
		Attributes: encodeAttributes(s.Attributes()), Dropped: s.DroppedEvents(),
	}
	for _, e := range s.Events() {
		out.Events = append(out.Events, event{e.Name, e.Time, encodeAttributes(e.Attributes)})
	}
	return out
}

// encodeAttributes returns attributes as JSON values. Only texts and whole numbers occur in the
// spans of this package.
func encodeAttributes(attributes []attribute.KeyValue) map[string]any {
	values := map[string]any{}
	for _, a := range attributes {
		if a.Value.Type() == attribute.INT64 {
			values[string(a.Key)] = a.Value.AsInt64()
		} else {
			values[string(a.Key)] = a.Value.String()
		}
	}
	return values
}

// Take exports spans that an exporter of Forward in another process has sent. service is the
// service.name of that process. A nil Provider drops them.
func (p *Provider) Take(ctx context.Context, service string, spans io.Reader) error {
	if p == nil {
		return nil
	}
	options := p.options
	options.Service = service
	about, err := options.about(ctx)
	if err != nil {
		return err
	}
	lines := json.NewDecoder(spans)
	lines.UseNumber()
	for {
		var s span
		if err := lines.Decode(&s); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("traces: %w", err)
		}
		stub, err := s.decode()
		if err != nil {
			return fmt.Errorf("traces: %w", err)
		}
		stub.Resource = about
		p.batches.OnEnd(stub.Snapshot())
	}
}

// decode is the inverse of encodeSpan.
func (s span) decode() (out tracetest.SpanStub, err error) {
	config := trace.SpanContextConfig{TraceFlags: trace.TraceFlags(s.Flags)}
	if config.TraceID, err = trace.TraceIDFromHex(s.Trace); err != nil {
		return out, err
	}
	if config.TraceState, err = trace.ParseTraceState(s.State); err != nil {
		return out, err
	}
	parent := config
	if s.Parent != "" {
		if parent.SpanID, err = trace.SpanIDFromHex(s.Parent); err != nil {
			return out, err
		}
	}
	if config.SpanID, err = trace.SpanIDFromHex(s.ID); err != nil {
		return out, err
	}
	out = tracetest.SpanStub{
		Name: s.Name, SpanContext: trace.NewSpanContext(config), SpanKind: s.Kind, StartTime: s.Start, EndTime: s.End,
		Attributes: decodeAttributes(s.Attributes), DroppedEvents: s.Dropped,
		InstrumentationScope: instrumentation.Scope{Name: scope},
	}
	if s.Parent != "" {
		parent.Remote = s.Remote
		out.Parent = trace.NewSpanContext(parent)
	}
	if s.Failed {
		out.Status.Code = codes.Error
	}
	for _, e := range s.Events {
		out.Events = append(out.Events,
			sdk.Event{Name: e.Name, Time: e.Time, Attributes: decodeAttributes(e.Attributes)})
	}
	return out, nil
}

func decodeAttributes(values map[string]any) (attributes []attribute.KeyValue) {
	for key, value := range values {
		if number, ok := value.(json.Number); ok {
			if n, err := number.Int64(); err == nil {
				attributes = append(attributes, attribute.Int64(key, n))
				continue
			}
		}
		attributes = append(attributes, attribute.String(key, fmt.Sprint(value)))
	}
	return attributes
}
