package typegen_test

import (
	"bytes"
	"context"
	"flag"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/database/typegen"
)

func TestMain(m *testing.M) { testdb.Main(m) }

var update = flag.Bool("update", false, "rewrite the golden files")

func TestShapes(t *testing.T) {
	db := testdb.New(t)
	text, err := os.ReadFile("testdata/shapes.sql")
	if err != nil {
		t.Fatal(err)
	}
	db.Exec(string(text))
	for file, language := range map[string]string{"shapes.ts": "typescript", "shapes.go.txt": "go",
		"shapes.swift": "swift", "shapes.py": "python"} {
		compare(t, db, "testdata/"+file, language, "shapes", "odd schema")
	}
}

func TestUnknownSchema(t *testing.T) {
	conn := connect(t, testdb.New(t))
	err := typegen.Write(t.Context(), new(bytes.Buffer), pool.Unprepared(conn.PgConn()), "typescript", "public",
		"nowhere")
	if err == nil || !strings.Contains(err.Error(), `no schema "nowhere"`) {
		t.Errorf("got %v", err)
	}
}

// TestNamesAreQuoted checks that labels and columns with characters of string literals, and columns
// that are keywords, are no other code.
func TestNamesAreQuoted(t *testing.T) {
	db := testdb.New(t)
	db.Exec(`create schema odd; create type odd.mood as enum ('say "no"', 'a\b', E'two\nlines', '\(x)');
		create table odd.words (id int, class odd.mood, "public" text, "q""uote" text,
			"back\slash" text, "tick` + "`" + `" text)`)
	for language, wants := range map[string][]string{
		"python": {`Literal["say \"no\"", "a\\b", "two\nlines", "\\(x)"]`, `alias="q\"uote"`, `alias="back\\slash"`},
		"swift": {`= "say \"no\""`, `= "a\\b"`, `= "two\nlines"`, `= "\\(x)"`, `= "q\"uote"`, "let `class`: Mood?",
			"let `public`: String?", "case `class` = \"class\""},
		"go": {"`json:\"q\\\"uote\"`", "`json:\"back\\\\slash\"`", `"json:\"tick` + "`" + `\""`},
	} {
		var out bytes.Buffer
		if err := typegen.Write(t.Context(), &out, pool.Unprepared(connect(t, db).PgConn()), language, "odd"); err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s has no %s:\n%s", language, want, out.String())
			}
		}
		if language == "go" {
			if _, err := parser.ParseFile(token.NewFileSet(), "types.go", out.String(), 0); err != nil {
				t.Error(err)
			}
		}
	}
}

func connect(t *testing.T, db *testdb.DB) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), db.URL("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func compare(t *testing.T, db *testdb.DB, file, language string, schemas ...string) {
	t.Helper()
	var out bytes.Buffer
	if err := typegen.Write(t.Context(), &out, pool.Unprepared(connect(t, db).PgConn()), language,
		schemas...); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("%s does not match the database (-file +database); `go test ./supabase/internal/database/typegen -update` writes it:\n%s", file, diff)
	}
}
