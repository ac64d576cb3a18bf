// Package logs keeps a day of requests and messages of Postgres, and answers the SQL with which
// Supabase Studio reads logs. It keeps no bodies, addresses, queries or other texts of clients.
package logs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Limits of what is kept.
const (
	keepFor     = 24 * time.Hour
	keepBytes   = 50 << 20
	segmentSize = 4 << 20
	flushEvery  = time.Second
)

// Entry is a request, or a message of Postgres.
type Entry struct {
	Time    time.Time     `json:"t"`
	ID      string        `json:"i"`
	Service string        `json:"s"` // of the gateway, or postgres
	Method  string        `json:"m,omitempty"`
	Path    string        `json:"p,omitempty"`
	Status  int           `json:"c,omitempty"`
	Took    time.Duration `json:"d,omitempty"`
	Level   string        `json:"l,omitempty"` // severity of Postgres
	Text    string        `json:"x,omitempty"` // message of Postgres
}

// Store is a folder of segments: files with one entry per line, named after the time of the first.
type Store struct {
	dir string
	now func() time.Time

	mu     sync.Mutex
	file   *os.File // nil before the first entry
	out    *bufio.Writer
	size   int64 // of the current segment
	next   int64 // number of the next message of Postgres
	dirty  bool
	failed error // the first failure to write; it is returned by Close
}

// Open returns a store in a folder, which it creates at the first entry.
func Open(dir string) *Store { return &Store{dir: dir, now: time.Now} }

// Add stores an entry. A full disk loses entries and disturbs nothing else.
func (s *Store) Add(e Entry) {
	line, err := json.Marshal(e)
	if err != nil {
		return // an Entry has no values that JSON lacks
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil || s.size > segmentSize {
		if err := s.rotate(); err != nil {
			s.fail(err)
			return
		}
	}
	n, err := s.out.Write(append(line, '\n'))
	s.size += int64(n)
	s.dirty = true
	if err != nil {
		s.fail(err)
		s.out.Reset(s.file) // a Writer that failed takes nothing more
	}
}

// fail keeps the first failure. The caller holds the lock.
func (s *Store) fail(err error) {
	if s.failed == nil {
		s.failed = err
	}
}

// rotate begins a segment and removes what is too old or too much. The caller holds the lock.
func (s *Store) rotate() error {
	if err := s.closeSegment(); err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(s.dir, fmt.Sprintf("%d.jsonl", s.now().UnixNano())),
		os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	s.file, s.out, s.size = f, bufio.NewWriterSize(f, 16<<10), 0
	return s.prune()
}

func (s *Store) closeSegment() error {
	if s.file == nil {
		return nil
	}
	err := errors.Join(s.out.Flush(), s.file.Close())
	s.file, s.out, s.dirty = nil, nil, false
	return err
}

// prune removes the oldest segments. The caller holds the lock.
func (s *Store) prune() error {
	segments, err := s.segments()
	if err != nil {
		return err
	}
	total := int64(0)
	for i, name := range slices.Backward(segments) {
		info, err := os.Stat(name)
		if err != nil {
			continue
		}
		total += info.Size()
		// the newest segment may grow to its full size
		if total > keepBytes-segmentSize-64<<10 || s.now().Sub(info.ModTime()) > keepFor && i < len(segments)-1 {
			if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// segments returns the paths of all segments, the oldest first.
func (s *Store) segments() ([]string, error) {
	names, err := filepath.Glob(filepath.Join(s.dir, "*.jsonl"))
	slices.SortFunc(names, func(a, b string) int { return int(started(a).Sub(started(b))) })
	return names, err
}

// started returns the time in the name of a segment.
func started(name string) time.Time {
	n, err := strconv.ParseInt(strings.TrimSuffix(filepath.Base(name), ".jsonl"), 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(0, n)
}

// Run writes entries to the disk every second, and removes old ones, until ctx ends.
func (s *Store) Run(ctx context.Context) {
	tick, hour := time.NewTicker(flushEvery), time.NewTicker(time.Hour)
	defer tick.Stop()
	defer hour.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.mu.Lock()
			if s.dirty {
				_ = s.out.Flush() // Write returns the error again
				s.dirty = false
			}
			s.mu.Unlock()
		case <-hour.C:
			s.mu.Lock()
			_ = s.prune() // tried again at the next segment
			s.mu.Unlock()
		}
	}
}

// Close writes the rest.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.failed, s.closeSegment())
}

// Between calls f with the kept entries from start to end, in the order in which they were added.
func (s *Store) Between(start, end time.Time, f func(Entry)) error {
	s.mu.Lock()
	if s.out != nil {
		_ = s.out.Flush() // Write returns the error again
	}
	segments, err := s.segments()
	s.mu.Unlock()
	if err != nil {
		return err
	}
	if oldest := s.now().Add(-keepFor); start.Before(oldest) {
		start = oldest
	}
	for i, name := range segments {
		if i+1 < len(segments) && started(segments[i+1]).Before(start) {
			continue // all its entries were added before, and an entry is added after its time
		}
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // pruned
		} else if err != nil {
			return err
		}
		for line := range bytes.Lines(text) {
			var e Entry
			if json.Unmarshal(line, &e) == nil && !e.Time.Before(start) && !e.Time.After(end) {
				f(e)
			}
		}
	}
	return nil
}

// Postgres returns a handler that stores the messages of Postgres and passes all records on.
func (s *Store) Postgres(next slog.Handler) slog.Handler { return &postgresLog{next, s} }

// postgresLog stores messages whose attribute from is postgres.
type postgresLog struct {
	slog.Handler
	store *Store
}

// Enabled is part of slog.Handler: messages that are not printed are stored.
func (h *postgresLog) Enabled(context.Context, slog.Level) bool { return true }

// Handle is part of slog.Handler.
func (h *postgresLog) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "from" && a.Value.String() == "postgres" {
			h.store.addMessage(r)
			return false
		}
		return true
	})
	if !h.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs is part of slog.Handler.
func (h *postgresLog) WithAttrs(a []slog.Attr) slog.Handler {
	return &postgresLog{h.Handler.WithAttrs(a), h.store}
}

// WithGroup is part of slog.Handler.
func (h *postgresLog) WithGroup(name string) slog.Handler {
	return &postgresLog{h.Handler.WithGroup(name), h.store}
}

// addMessage stores a message of Postgres without the values that it quotes.
func (s *Store) addMessage(r slog.Record) {
	level := "LOG"
	switch r.Level {
	case slog.LevelError:
		level = "ERROR"
	case slog.LevelWarn:
		level = "WARNING"
	case slog.LevelInfo:
		level = "FATAL"
	}
	s.mu.Lock()
	s.next++
	id := fmt.Sprintf("pg-%d-%d", r.Time.UnixNano(), s.next)
	s.mu.Unlock()
	text, rest, quotes := strings.Cut(r.Message, `: "`)
	if quotes && rest != "" {
		text += ": …"
	}
	s.Add(Entry{Time: r.Time, ID: id, Service: "postgres", Level: level, Text: text})
}
