package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestRefused(t *testing.T) {
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
		if got := refused(test.err); got != test.want {
			t.Errorf("%v: %v", test.err, got)
		}
	}
}

// When the connection breaks in place of the reply to the commit, nobody knows
// whether the rows are there: their files stay.
func TestImportWhoseCommitHasNoReply(t *testing.T) {
	source, sourceFiles := filled(t)
	whole := export(t, source, sourceFiles)
	target := migrated(t)
	targetFiles := &memory{data: map[string]string{}}
	_, err := Import(t.Context(), ImportOptions{URL: withoutReply(t, target.URL("supabase_admin")), Files: targetFiles}, bytes.NewReader(whole))
	if err == nil || !strings.Contains(err.Error(), "whether it took effect is unknown") {
		t.Errorf("got error %v", err)
	}
	if diff := cmp.Diff(sourceFiles.data, targetFiles.data); diff != "" {
		t.Errorf("files: %s", diff)
	}
	manifestOf(t, export(t, target, targetFiles)) // every row has its file
}

// withoutReply leads to a database over connections that break when a commit is
// answered.
func withoutReply(t *testing.T, url string) string {
	t.Helper()
	config, err := pgconn.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		client, err := l.Accept()
		if err != nil {
			return
		}
		defer client.Close()
		network, address := pgconn.NetworkAddress(config.Host, config.Port)
		server, err := net.Dial(network, address)
		if err != nil {
			t.Error(err)
			return
		}
		defer server.Close()
		var ending atomic.Bool
		go func() {
			chunk := make([]byte, 64<<10)
			for {
				n, err := client.Read(chunk)
				if bytes.HasSuffix(chunk[:n], []byte("commit\x00")) {
					ending.Store(true)
				}
				if _, err2 := server.Write(chunk[:n]); err != nil || err2 != nil {
					return
				}
			}
		}()
		chunk := make([]byte, 64<<10)
		for {
			n, err := server.Read(chunk)
			if err != nil || ending.Load() {
				return
			}
			if _, err := client.Write(chunk[:n]); err != nil {
				return
			}
		}
	}()
	return fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", config.User, l.Addr(), config.Database)
}
