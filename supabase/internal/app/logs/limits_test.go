package logs

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestManyRows checks that a statement over many rows keeps few of them.
func TestManyRows(t *testing.T) {
	s := Open(filepath.Join(t.TempDir(), "logs"))
	s.now = func() time.Time { return noon }
	const many = 6 * maxRows
	for i := range many {
		s.Add(Entry{Time: noon.Add(time.Duration(i-many) * time.Second), ID: fmt.Sprint(i), Service: "rest",
			Status: 200})
	}
	for sql, want := range map[string]string{
		"select id from edge_logs order by timestamp desc limit 2":                           `[{"id":"5999"},{"id":"5998"}]`,
		"select id from edge_logs limit 2":                                                   `[{"id":"0"},{"id":"1"}]`,
		"select count(*) as n, count(distinct identifier) as d, max(id) as m from edge_logs": `[{"d":1,"m":"999","n":6000}]`,
	} {
		result, err := s.Query(t.Context(), sql, noon.Add(-2*time.Hour), noon)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := json.Marshal(result); err != nil || string(text) != want {
			t.Errorf("%s: %s, %v", sql, text, err)
		}
		st, err := parse(sql)
		if err != nil {
			t.Fatal(err)
		}
		c, err := newCollector(st)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.scan(t.Context(), c, noon.Add(-2*time.Hour), noon); err != nil || len(c.found) >= 4*maxRows {
			t.Errorf("%s: %d rows are kept, %v", sql, len(c.found), err)
		}
	}
	for i := range maxGroups {
		s.Add(Entry{Time: noon, ID: fmt.Sprint("more", i), Service: "rest"})
	}
	_, err := s.Query(t.Context(), "select id from edge_logs group by id", noon.Add(-2*time.Hour), noon)
	if err == nil || !strings.Contains(err.Error(), "groups") {
		t.Errorf("groups without end: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestQuietServer checks that entries leave the disk after a day on a server with few requests,
// also in a folder whose name is a pattern.
func TestQuietServer(t *testing.T) {
	s := Open(filepath.Join(t.TempDir(), "[a]", "logs"))
	s.Add(Entry{Time: time.Now(), ID: "old", Service: "rest"})
	s.tidy()
	s.now = func() time.Time { return time.Now().Add(25 * time.Hour) }
	s.Add(Entry{Time: s.now(), ID: "new", Service: "rest"})
	segments, err := s.segments()
	if err != nil || len(segments) != 1 {
		t.Fatalf("%q, %v", segments, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(segments[0]); err != nil || !strings.Contains(string(text), `"new"`) {
		t.Errorf("%q, %v", text, err)
	}
}

// fullDisk is a writer that fails.
type fullDisk struct{}

var errFull = errors.New("no space")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// TestFullDisk checks that entries are stored again after the disk had no space.
func TestFullDisk(t *testing.T) {
	s := Open(filepath.Join(t.TempDir(), "logs"))
	s.Add(Entry{Time: time.Now(), ID: "first", Service: "rest"})
	s.out.Reset(fullDisk{})
	for range 3 {
		s.Add(Entry{Time: time.Now(), ID: "lost", Service: "rest", Path: strings.Repeat("x", 20_000)})
		s.out.Reset(fullDisk{})
	}
	s.Add(Entry{Time: time.Now(), ID: "lost", Service: "rest", Path: strings.Repeat("x", 20_000)})
	s.Add(Entry{Time: time.Now(), ID: "last", Service: "rest"})
	segments, err := s.segments()
	if err != nil || len(segments) != 1 {
		t.Fatalf("%q, %v", segments, err)
	}
	if err := s.Close(); err == nil || err.Error() != errFull.Error() {
		t.Errorf("Close: %v, want the first failure alone", err)
	}
	if text, err := os.ReadFile(segments[0]); err != nil || !strings.Contains(string(text), `"last"`) {
		t.Errorf("%q, %v", text, err)
	}
}

// TestQuotedText checks that a message of Postgres is stored without what it quotes of statements.
func TestQuotedText(t *testing.T) {
	for message, want := range map[string]string{
		`invalid input syntax for type uuid: "Amina"`:           `invalid input syntax for type uuid: …`,
		`unterminated quoted string at or near "'secret where"`: `unterminated quoted string at or near …`,
		`value "12345678901" is out of range for type integer`:  `value …`,
		`relation "notes" does not exist`:                       `relation "notes" does not exist`,
		`checkpoint complete: wrote 3 buffers`:                  `checkpoint complete: wrote 3 buffers`,
	} {
		if got := quotedText.ReplaceAllString(message, "$1…"); got != want {
			t.Errorf("%q", got)
		}
	}
}
