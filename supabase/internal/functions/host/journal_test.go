package host

import (
	"log/slog"
	"strings"
	"testing"
)

// TestJournalKeepsLastLines checks that a Journal keeps the last journalKeeps lines.
func TestJournalKeepsLastLines(t *testing.T) {
	j := NewJournal(slog.DiscardHandler)
	if len(j.Lines()) != 0 {
		t.Error("a new journal is not empty")
	}
	log := slog.New(j).With("function", "hello")
	for i := range journalKeeps + 5 {
		log.Info("call", "i", i)
	}
	all := j.Lines()
	if len(all) != journalKeeps || all[0].N != 5 || !strings.Contains(all[0].Text, "function=hello i=5") {
		t.Errorf("%d lines, the first %+v", len(all), all[0])
	}
	slog.New(j).Info("call ended", "function", "count")
	slog.New(j).Info("functions reloaded")
	all = j.Lines()
	for i, want := range []string{"hello", "count", ""} {
		if l := all[len(all)-3+i]; l.Function != want {
			t.Errorf("%+v is of function %q, want %q", l, l.Function, want)
		}
	}
}
