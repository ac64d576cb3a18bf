package cli

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// TestActivity checks the line of a terminal and the lines of another output.
func TestActivity(t *testing.T) {
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	show := func(live bool) (string, int) {
		var out strings.Builder
		now := clock
		a := &activity{w: &out, live: live, columns: 20, now: func() time.Time { return now }}
		a.begin("compiling all functions")
		now = now.Add(1500 * time.Millisecond)
		if _, err := a.Write([]byte("a log line\n")); err != nil {
			t.Fatal(err)
		}
		a.end()
		a.begin("upload")
		a.cancel()
		a.end() // has no step
		return out.String(), a.columns
	}
	if got, _ := show(false); got != "compiling all functions\na log line\nupload\n" {
		t.Errorf("a file: %q", got)
	}
	got, columns := show(true)
	for _, want := range []string{
		"\r\x1b[K… compiling", "\r\x1b[Ka log line\n", "\r\x1b[K✓ compiling all functions 1.5 s\n", "\r\x1b[K… upload 0.0 s",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("a terminal: no %q in %q", want, got)
		}
	}
	for line := range strings.SplitSeq(got, "\r\x1b[K") {
		if strings.HasPrefix(line, "… ") && utf8.RuneCountInString(line) >= columns {
			t.Errorf("%q is wider than the terminal", line)
		}
	}
}

// TestColours checks that only a terminal gets colours, and none with NO_COLOR or TERM=dumb.
func TestColours(t *testing.T) {
	if got := coloursOf(&strings.Builder{}, func(string) (string, bool) { return "", false }); got != (colours{}) {
		t.Errorf("no terminal: %+v", got)
	}
}

// TestConsoleLog checks the lines of the log on a terminal.
func TestConsoleLog(t *testing.T) {
	var out strings.Builder
	log := slog.New(consoleHandler{w: &out, mu: new(sync.Mutex)}).With("part", "auth")
	log.Debug("hidden")
	log.Warn("mail not sent", "to", "a b", "n", 2, slog.Group("limit", "left", 0))
	log.WithGroup("g").Info("x\x1b[31m", "k", "v\x1b")
	var lines []string
	for line := range strings.Lines(out.String()) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		lines = append(lines, rest)
	}
	want := []string{`warn  mail not sent part=auth to="a b" n=2 limit.left=0`, `info  x?[31m part=auth g.k="v\x1b"`}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
	out.Reset()
	slog.New(consoleHandler{w: &out, mu: new(sync.Mutex), colours: ansi}).Error("bad")
	if !strings.Contains(out.String(), "\x1b[31merror\x1b[0m bad") {
		t.Errorf("%q", out.String())
	}
}
