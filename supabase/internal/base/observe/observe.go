// Package observe provides structured logs, Prometheus metrics and health routes.
//
// It never records personal data: no address, user agent, query string or body.
package observe

import (
	"context"
	"io"
	"log/slog"
	"os"

	"daawo/supabase/internal/base/observe/logattr"

	"golang.org/x/term"
)

// Logger returns a logger to w. level is debug, info, warn or error. format is text, json or "" for
// text on a terminal and JSON elsewhere.
func Logger(w io.Writer, level, format string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: l, ReplaceAttr: logattr.Seconds}
	f, isFile := w.(*os.File)
	if format == "text" || (format == "" && isFile && term.IsTerminal(int(f.Fd()))) {
		return slog.New(withRequestID{slog.NewTextHandler(w, options)})
	}
	return slog.New(withRequestID{slog.NewJSONHandler(w, options)})
}

type requestIDKey struct{}

// WithRequestID stores a request's id in ctx. Every line that is logged with this context has the
// id.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID returns the id of the request of ctx, or "".
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// withRequestID adds the request's id to log records.
type withRequestID struct{ slog.Handler }

func (h withRequestID) Handle(ctx context.Context, r slog.Record) error {
	if id := RequestID(ctx); id != "" {
		r.AddAttrs(slog.String("request_id", id))
	}
	return h.Handler.Handle(ctx, r)
}

func (h withRequestID) WithAttrs(attrs []slog.Attr) slog.Handler {
	return withRequestID{h.Handler.WithAttrs(attrs)}
}

func (h withRequestID) WithGroup(name string) slog.Handler {
	return withRequestID{h.Handler.WithGroup(name)}
}
