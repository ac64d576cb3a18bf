package auth

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daawo/supabase/internal/database/testdb"
)

// TestSchema compares the catalogue of the schema auth with the one that GoTrue's own migrations
// leave: tables, columns, constraints, indexes, functions, comments, owners and grants. After a
// difference one of the two servers could no longer use the other's database. docs/evidence/auth.md
// says how a database of GoTrue's gave schema.golden.
func TestSchema(t *testing.T) {
	conn := testdb.New(t).Conn("supabase_admin")
	queries, err := os.ReadFile("testdata/schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	results, err := conn.PgConn().Exec(t.Context(), string(queries)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, result := range results {
		for _, row := range result.Rows {
			got.Write(bytes.Join(row, []byte("|")))
			got.WriteByte('\n')
		}
	}
	want, err := os.ReadFile("testdata/schema.golden")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Error(diff)
	}
}
