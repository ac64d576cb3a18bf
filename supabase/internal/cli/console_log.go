package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
)

// consoleHandler writes log records for a person: the time of day, the level, the message and the
// attributes.
type consoleHandler struct {
	w       io.Writer
	mu      *sync.Mutex
	level   slog.Level
	colours colours
	attrs   string // of WithAttrs
	group   string // of WithGroup, with a dot at its end
}

// Enabled is part of slog.Handler.
func (h consoleHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

// WithAttrs is part of slog.Handler.
func (h consoleHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		h.attrs += h.attribute(a)
	}
	return h
}

// WithGroup is part of slog.Handler.
func (h consoleHandler) WithGroup(name string) slog.Handler {
	h.group += name + "."
	return h
}

// Handle is part of slog.Handler.
func (h consoleHandler) Handle(_ context.Context, r slog.Record) error {
	colour, c := "", h.colours
	switch {
	case r.Level >= slog.LevelError:
		colour = c.red
	case r.Level >= slog.LevelWarn:
		colour = c.yellow
	case r.Level < slog.LevelInfo:
		colour = c.dim
	}
	reset := ""
	if colour != "" {
		reset = c.reset
	}
	attrs := h.attrs
	r.Attrs(func(a slog.Attr) bool {
		attrs += h.attribute(a)
		return true
	})
	line := fmt.Sprintf("%s%s%s %s%-5s%s %s%s%s%s\n", c.dim, r.Time.Format("15:04:05"), c.reset,
		colour, strings.ToLower(r.Level.String()), reset, visible(r.Message), c.dim, attrs, c.reset)
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := io.WriteString(h.w, line)
	return err
}

// attribute returns an attribute with a space before it. Values with spaces or control characters
// are quoted.
func (h consoleHandler) attribute(a slog.Attr) string {
	value := a.Value.Resolve()
	if value.Kind() == slog.KindGroup {
		var out strings.Builder
		h.group += a.Key + "."
		for _, inner := range value.Group() {
			out.WriteString(h.attribute(inner))
		}
		return out.String()
	}
	if a.Equal(slog.Attr{}) {
		return ""
	}
	text := value.String()
	if text == "" || strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c == '"' || c == 0x7f }) {
		text = fmt.Sprintf("%q", text)
	}
	return " " + h.group + a.Key + "=" + text
}

// visible replaces control characters, which could change the terminal.
func visible(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\n' || c == 0x7f {
			return '?'
		}
		return c
	}, text)
}
