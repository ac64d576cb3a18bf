package logical

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"daawo/supabase/internal/database/backup/codec"
	"daawo/supabase/internal/database/testdb"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestNotCommitted(t *testing.T) {
	for _, test := range []struct {
		err  error
		want bool
	}{
		{&pgconn.PgError{Code: "23505"}, true},
		{fmt.Errorf("commit: %w", &pgconn.PgError{Code: "40001"}), true},
		{pgx.ErrTxCommitRollback, true},
		{&pgconn.PgError{Code: "57P01"}, false},
		{&pgconn.PgError{Code: "08006"}, false},
		{io.ErrUnexpectedEOF, false},
		{errors.New("conn closed"), false},
	} {
		if got := notCommitted(test.err); got != test.want {
			t.Errorf("%v: %v", test.err, got)
		}
	}
}

// If the connection breaks before the reply to the commit, the result is unknown
// and the files stay.
func TestImportWithoutCommitReply(t *testing.T) {
	source, sourceFiles := filled(t)
	whole := export(t, source, sourceFiles)
	target := migrated(t)
	targetFiles := &memory{data: map[string]string{}}
	var ending atomic.Bool
	url := testdb.Relay(t, target.TCPURL("supabase_admin"), func(b []byte) {
		if bytes.HasSuffix(b, []byte("commit\x00")) {
			ending.Store(true)
		}
	}, func([]byte) bool { return ending.Load() })
	_, err := Import(t.Context(), ImportOptions{URL: url, Files: targetFiles}, bytes.NewReader(whole))
	if err == nil || !strings.Contains(err.Error(), "the result of the commit is unknown") {
		t.Errorf("got error %v", err)
	}
	if diff := cmp.Diff(sourceFiles.data, targetFiles.data); diff != "" {
		t.Errorf("files: %s", diff)
	}
	manifestOf(t, export(t, target, targetFiles)) // every row has its file
}

// TestImportOfAnotherFile checks that files that are no export are called so.
func TestImportOfAnotherFile(t *testing.T) {
	for name, text := range map[string]string{"text": "root:x:0:0", "empty": "",
		"archive of something else": string(compressed(t, "no tar"))} {
		plain, err := codec.Codec{}.Decode("x", strings.NewReader(text))
		if err == nil {
			err = nextJSON(tar.NewReader(plain), "header.json", new(header))
		}
		if err == nil || !strings.Contains(err.Error(), "this is not an export") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func compressed(t *testing.T, text string) []byte {
	var out bytes.Buffer
	w, err := codec.Codec{}.Encode(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestImportSeesContentThatIsBeingWritten begins an import while a transaction writes a row of user
// content: the row may be acknowledged a moment later.
func TestImportSeesContentThatIsBeingWritten(t *testing.T) {
	source, sourceFiles := filled(t)
	whole := export(t, source, sourceFiles)
	target := migrated(t)
	conn := target.Conn("postgres")
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `insert into public.notes (title, text) values ('new', 'x')`); err != nil {
		t.Fatal(err)
	}
	imported := make(chan error, 1)
	go func() {
		_, err := Import(t.Context(), ImportOptions{URL: target.URL("supabase_admin"),
			Files: &memory{data: map[string]string{}}, Protected: []string{"public.notes"}}, bytes.NewReader(whole))
		imported <- err
	}()
	const waits = `select exists (select from pg_locks where not granted and relation = 'public.notes'::regclass)`
	for !testdb.Value[bool](target, waits) {
		time.Sleep(10 * time.Millisecond)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-imported; !errors.Is(err, ErrNotEmpty) {
		t.Errorf("the import: %v", err)
	}
	if n := testdb.Value[int](target, `select count(*) from public.notes where title = 'new'`); n != 1 {
		t.Error("the row is lost")
	}
}

// TestExportLeavesNothing checks that the rows of an export have no file with a name on their way:
// it would stay if the process were killed.
func TestExportLeavesNothing(t *testing.T) {
	db, files := filled(t)
	db.ExecAs("supabase_admin", `
		insert into public.notes (title, text)
		select 'long', (select string_agg(md5(random()::text || n || m), '') from generate_series(1, 1000) as m)
		  from generate_series(1, 40) as n`)
	spools := t.TempDir()
	t.Setenv("TMPDIR", spools)
	wrote, seen := 0, map[string]bool{}
	watch := watched(func(b []byte) {
		wrote += len(b)
		left, err := os.ReadDir(spools)
		if err != nil {
			t.Error(err)
		}
		for _, e := range left {
			seen[e.Name()] = true
		}
	})
	if _, err := Export(t.Context(), ExportOptions{URL: db.URL("supabase_admin"), Files: files},
		func() (io.WriteCloser, error) { return watch, nil }); err != nil {
		t.Fatal(err)
	}
	if wrote < 500_000 || len(seen) > 0 {
		t.Errorf("wrote %d bytes; files with names: %v", wrote, seen)
	}
}

// watched is a writer that calls itself.
type watched func([]byte)

func (w watched) Write(b []byte) (int, error) { w(b); return len(b), nil }
func (watched) Close() error                  { return nil }
