package host

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"daawo/supabase/internal/base/observe/logattr"
)

// Numbers of lines in a Journal. Warnings and errors have lines of their own, so that a busy
// function does not displace them.
const (
	journalKeeps  = 4000
	journalErrors = 1000
)

// Journal is a log handler that passes records on and keeps the last ones as text, for `daawo
// functions logs`.
type Journal struct {
	slog.Handler // the next handler
	own          slog.Handler
	lines        *lines
	function     string // of all records; "" if they are of no function
}

// Line is a record of a Journal. Numbers increase, so that a reader can ask for new lines.
type Line struct {
	N     int64      `json:"n"`
	Time  time.Time  `json:"time"`
	Level slog.Level `json:"level"`
	Text  string     `json:"text"`

	Function string `json:"-"` // "" if the record is of no function
}

// NewJournal returns a journal in front of a handler.
func NewJournal(next slog.Handler) *Journal {
	kept := &lines{}
	return &Journal{Handler: next, own: slog.NewTextHandler(kept, &slog.HandlerOptions{ReplaceAttr: logattr.Seconds}),
		lines: kept}
}

// Enabled is part of slog.Handler. The journal keeps records that the next handler drops.
func (j *Journal) Enabled(ctx context.Context, l slog.Level) bool {
	return j.own.Enabled(ctx, l) || j.Handler.Enabled(ctx, l)
}

// Handle is part of slog.Handler.
func (j *Journal) Handle(ctx context.Context, r slog.Record) error {
	if j.own.Enabled(ctx, r.Level) {
		j.lines.add(ctx, j.own, r, j.functionOf(r))
	}
	if !j.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return j.Handler.Handle(ctx, r)
}

// WithAttrs is part of slog.Handler.
func (j *Journal) WithAttrs(a []slog.Attr) slog.Handler {
	function := j.function
	for _, attr := range a {
		if attr.Key == functionAttr {
			function = attr.Value.String()
		}
	}
	return &Journal{j.Handler.WithAttrs(a), j.own.WithAttrs(a), j.lines, function}
}

// WithGroup is part of slog.Handler.
func (j *Journal) WithGroup(name string) slog.Handler {
	return &Journal{j.Handler.WithGroup(name), j.own.WithGroup(name), j.lines, j.function}
}

// functionAttr is the attribute of a record with the name of its function.
const functionAttr = "function"

// functionOf returns the name of the function that a record is about, or "".
func (j *Journal) functionOf(r slog.Record) string {
	name := j.function
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == functionAttr {
			name = a.Value.String()
		}
		return true
	})
	return name
}

// Lines returns the kept records, the oldest first.
func (j *Journal) Lines() []Line { return j.lines.all() }

// lines keeps text lines in two ring buffers.
type lines struct {
	mu      sync.Mutex
	next    int64
	present Line // is being written
	usual   ring
	errors  ring
}

// ring keeps the last lines.
type ring struct {
	kept []Line
	n    int // lines so far
}

func (r *ring) add(l Line, most int) {
	if len(r.kept) < most {
		r.kept = append(r.kept, l)
	} else {
		r.kept[r.n%most] = l
	}
	r.n++
}

// add formats a record with a handler that writes to l.
func (l *lines) add(ctx context.Context, own slog.Handler, r slog.Record, function string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.present = Line{N: l.next, Time: r.Time, Level: r.Level, Function: function}
	_ = own.Handle(ctx, r) // writing into memory does not fail
	l.next++
	if r.Level >= slog.LevelWarn {
		l.errors.add(l.present, journalErrors)
	} else {
		l.usual.add(l.present, journalKeeps)
	}
}

// Write is for slog.TextHandler, which writes a record with one call. add holds the lock.
func (l *lines) Write(p []byte) (int, error) {
	l.present.Text = string(bytes.TrimRight(p, "\n"))
	return len(p), nil
}

func (l *lines) all() []Line {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := slices.Concat(l.usual.kept, l.errors.kept)
	slices.SortFunc(all, func(a, b Line) int { return cmp.Compare(a.N, b.N) })
	return all
}
