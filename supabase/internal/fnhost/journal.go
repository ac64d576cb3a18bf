package fnhost

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
)

// journalKeeps is the number of lines in a Journal.
const journalKeeps = 2000

// Journal is a log handler that passes records on and keeps the last ones as text, for `daawo functions logs`.
type Journal struct {
	slog.Handler // the next handler
	own          slog.Handler
	lines        *lines
}

// Line is a record of a Journal. Numbers increase, so that a reader can ask for new lines.
type Line struct {
	N    int64  `json:"n"`
	Text string `json:"text"`
}

// NewJournal returns a journal in front of a handler.
func NewJournal(next slog.Handler) *Journal {
	kept := &lines{}
	return &Journal{Handler: next, own: slog.NewTextHandler(kept, nil), lines: kept}
}

// Enabled is part of slog.Handler. The journal keeps records that the next handler drops.
func (j *Journal) Enabled(ctx context.Context, l slog.Level) bool {
	return j.own.Enabled(ctx, l) || j.Handler.Enabled(ctx, l)
}

// Handle is part of slog.Handler.
func (j *Journal) Handle(ctx context.Context, r slog.Record) error {
	if j.own.Enabled(ctx, r.Level) {
		_ = j.own.Handle(ctx, r) // writing into memory does not fail
	}
	if !j.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return j.Handler.Handle(ctx, r)
}

// WithAttrs is part of slog.Handler.
func (j *Journal) WithAttrs(a []slog.Attr) slog.Handler {
	return &Journal{j.Handler.WithAttrs(a), j.own.WithAttrs(a), j.lines}
}

// WithGroup is part of slog.Handler.
func (j *Journal) WithGroup(name string) slog.Handler {
	return &Journal{j.Handler.WithGroup(name), j.own.WithGroup(name), j.lines}
}

// Lines returns the kept records, the oldest first.
func (j *Journal) Lines() []Line { return j.lines.all() }

// lines is a ring buffer of text lines. Each Write of slog.TextHandler adds one.
type lines struct {
	mu   sync.Mutex
	next int64
	ring [journalKeeps]string
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ring[l.next%journalKeeps] = string(bytes.TrimRight(p, "\n"))
	l.next++
	return len(p), nil
}

func (l *lines) all() []Line {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := []Line{}
	for n := max(0, l.next-journalKeeps); n < l.next; n++ {
		all = append(all, Line{n, l.ring[n%journalKeeps]})
	}
	return all
}
