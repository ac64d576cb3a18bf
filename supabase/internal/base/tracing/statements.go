package tracing

import (
	"context"
	"regexp"
	"strings"

	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Statements returns a tracer of pgx that makes a span of each statement, and one of each batch
// with an event per statement, if ctx has a span. It returns nil without a Provider.
func (p *Provider) Statements() pgx.QueryTracer {
	if p == nil {
		return nil
	}
	return statements{p.tracer}
}

type statements struct{ tracer trace.Tracer }

var (
	_ pgx.QueryTracer = statements{}
	_ pgx.BatchTracer = statements{}
)

// TraceQueryStart is part of pgx.QueryTracer.
func (s statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	return s.start(ctx, operation(data.SQL), attribute.String("db.query.text", withoutLiterals(data.SQL)))
}

// TraceQueryEnd is part of pgx.QueryTracer.
func (s statements) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	finish(ctx, data.Err)
}

// TraceBatchStart is part of pgx.BatchTracer.
func (s statements) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	return s.start(ctx, "BATCH", attribute.Int("db.operation.batch.size", data.Batch.Len()))
}

// TraceBatchQuery is part of pgx.BatchTracer.
func (s statements) TraceBatchQuery(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	if span, ok := ctx.Value(spanKey{}).(trace.Span); ok {
		span.AddEvent(operation(data.SQL),
			trace.WithAttributes(attribute.String("db.query.text", withoutLiterals(data.SQL))))
	}
}

// TraceBatchEnd is part of pgx.BatchTracer.
func (s statements) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchEndData) {
	finish(ctx, data.Err)
}

// spanKey is the key of the span of a statement in its context.
type spanKey struct{}

func (s statements) start(ctx context.Context, name string, attributes ...attribute.KeyValue) context.Context {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx // the work of the program itself
	}
	ctx, span := s.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("db.system.name", "postgresql")), trace.WithAttributes(attributes...))
	return context.WithValue(ctx, spanKey{}, span)
}

func finish(ctx context.Context, err error) {
	span, ok := ctx.Value(spanKey{}).(trace.Span)
	if !ok {
		return
	}
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

// operation returns the first word of a statement, such as SELECT.
func operation(sql string) string {
	words := strings.Fields(sql)
	if len(words) == 0 {
		return "SQL"
	}
	word := strings.ToUpper(strings.TrimRight(words[0], ";("))
	for _, r := range word {
		if r < 'A' || r > 'Z' {
			return "SQL"
		}
	}
	return word
}

// literals matches the literals of SQL: strings, dollar-quoted strings and numbers that are not
// parameters or parts of names.
var literals = regexp.MustCompile(`(?s)'(?:[^'\\]|''|\\.)*'|\$([A-Za-z_]*)\$.*?\$[A-Za-z_]*\$|(?:^|[^\w$."])[0-9]+(?:\.[0-9]+)?`)

// maxStatement is the length of the text of a statement in a span, in bytes.
const maxStatement = 2000

// withoutLiterals returns a statement with ? for its literals, shortened.
func withoutLiterals(sql string) string {
	text := literals.ReplaceAllStringFunc(sql, func(literal string) string {
		if literal[0] == '\'' || literal[0] == '$' || literal[0] >= '0' && literal[0] <= '9' {
			return "?"
		}
		return literal[:1] + "?"
	})
	if len(text) > maxStatement {
		text = strings.ToValidUTF8(text[:maxStatement], "")
	}
	return text
}
