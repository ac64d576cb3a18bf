// Package observe is how the stack is seen from outside: structured logs, Prometheus metrics and the health routes.
//
// Only app, cli and gateway import it; it imports nothing of ours. Nothing here records an address, a user agent, a
// query string or a body: those belong to visitors.
package observe

import (
	"context"
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"
)

// Logger writes to w. Level is debug, info, warn or error; format is text, json or "" for text on a terminal and JSON
// elsewhere.
func Logger(w io.Writer, level, format string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelInfo
	}
	options := &slog.HandlerOptions{Level: l}
	f, isFile := w.(*os.File)
	if format == "text" || (format == "" && isFile && term.IsTerminal(int(f.Fd()))) {
		return slog.New(withRequestID{slog.NewTextHandler(w, options)})
	}
	return slog.New(withRequestID{slog.NewJSONHandler(w, options)})
}

type requestIDKey struct{}

// WithRequestID puts the id of a request into ctx: every line logged with that context carries it.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// RequestID is the id of the request that ctx belongs to, "" outside of one.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// withRequestID adds the request's id to what is logged on its behalf.
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
