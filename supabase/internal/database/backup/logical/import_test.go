package logical

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

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
