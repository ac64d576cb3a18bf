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
	"regexp"
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

// Entry is a request, a message of Postgres, or what a Source returns.
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

	Function string         `json:"-"` // that wrote a line of function_logs
	Event    map[string]any `json:"-"` // of auth_audit_logs
}

// Source returns the entries of a table from start to end. Something else keeps them.
type Source func(ctx context.Context, start, end time.Time) ([]Entry, error)

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

	querying chan struct{} // holds a value while a query runs
	sources  map[string]Source
}

// Open returns a store in a folder, which it creates at the first entry.
func Open(dir string) *Store {
	return &Store{dir: dir, now: time.Now, querying: make(chan struct{}, 1)}
}

// From reads a table from a source. It must be called before the first query.
func (s *Store) From(table string, source Source) {
	if s.sources == nil {
		s.sources = map[string]Source{}
	}
	s.sources[table] = source
}

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
	for _, name := range slices.Backward(segments) {
		info, err := os.Stat(name)
		if err != nil {
			continue
		}
		total += info.Size()
		old := s.now().Sub(info.ModTime()) > keepFor && (s.file == nil || name != s.file.Name())
		// the newest segment may grow to its full size
		if old || total > keepBytes-segmentSize-64<<10 {
			if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// segments returns the paths of all segments, the oldest first.
func (s *Store) segments() (paths []string, err error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".jsonl" {
			paths = append(paths, filepath.Join(s.dir, e.Name()))
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return started(a).Compare(started(b)) })
	return paths, nil
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
			s.tidy()
		}
	}
}

// tidy ends the current segment and removes old ones. A segment of a quiet server would otherwise
// hold entries of many days.
func (s *Store) tidy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := errors.Join(s.closeSegment(), s.prune()); err != nil {
		s.fail(err)
	}
}

// Close writes the rest.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.failed, s.closeSegment())
}

// Between calls f with the kept entries from start to end, in the order in which they were added.
// It returns the first error of f.
func (s *Store) Between(start, end time.Time, f func(Entry) error) error {
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
			if json.Unmarshal(line, &e) != nil || e.Time.Before(start) || e.Time.After(end) {
				continue
			}
			if err := f(e); err != nil {
				return err
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

// quotedText matches what a message quotes of a statement or of its values. Names of objects stay.
var quotedText = regexp.MustCompile(`(?s)(: |\bat or near |\b[Vv]alue )".*$`)

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
	s.Add(Entry{Time: r.Time, ID: id, Service: "postgres", Level: level, Text: quotedText.ReplaceAllString(r.Message, "$1…")})
}
