package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"daawo/supabase/internal/testdb"

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
