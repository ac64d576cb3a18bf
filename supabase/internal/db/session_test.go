package db_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func open(t *testing.T, unprepared bool) *db.Pool {
	t.Helper()
	database := testdb.New(t)
	database.Exec(`create table public.t (n int unique)`)
	p, err := db.Open(t.Context(), db.Config{URL: database.URL("postgres"), MaxConns: 1, Unprepared: unprepared})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func text(s string) []byte { return []byte(s) }

// run runs statements in one round trip and gives the first column of the last one's rows.
func run(ctx context.Context, p *db.Pool, scope string, statements ...db.Statement) (out []string, err error) {
	err = p.Session(ctx, scope, func(s *db.Session) error {
		return s.Run(ctx, statements, func(i int, rows *pgconn.ResultReader) error {
			for rows.NextRow() {
				if i == len(statements)-1 {
					out = append(out, string(rows.Values()[0]))
				}
			}
			return nil
		})
	})
	return out, err
}

// TestOneTransaction: what is sent together happens together or not at all, prepared or not, and the connection goes on.
func TestOneTransaction(t *testing.T) {
	for _, unprepared := range []bool{false, true} {
		t.Run(fmt.Sprint("unprepared ", unprepared), func(t *testing.T) {
			p := open(t, unprepared)
			insert := db.Statement{SQL: `insert into t values ($1)`, Args: [][]byte{text("1")}}
			count := db.Statement{SQL: `select count(*) from t`}
			for range 3 {
				if _, err := run(t.Context(), p, "", insert, insert); !db.IsCode(err, "23505") {
					t.Fatalf("a double: %v", err)
				}
				if got, err := run(t.Context(), p, "", count); err != nil || got[0] != "0" {
					t.Fatalf("%v %v", got, err)
				}
			}
			set := db.Statement{SQL: `select set_config($1, $2, true)`, Args: [][]byte{text("app.x"), text("y")}}
			show := db.Statement{SQL: `select current_setting('app.x', true)`}
			if got, err := run(t.Context(), p, "a", set, show); err != nil || got[0] != "y" {
				t.Errorf("a setting holds for the transaction: %v %v", got, err)
			}
			if got, err := run(t.Context(), p, "a", show); err != nil || got[0] != "" {
				t.Errorf("and no longer: %v %v", got, err)
			}
		})
	}
}

// TestOpenTransactionIsRolledBack: a session that leaves a transaction open, or fails in one, gives a clean connection back.
func TestOpenTransactionIsRolledBack(t *testing.T) {
	p := open(t, false)
	begin, insert := db.Statement{SQL: "begin"}, db.Statement{SQL: `insert into t values (1)`}
	if _, err := run(t.Context(), p, "", begin, insert); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t.Context(), p, "", begin, db.Statement{SQL: "select 1/0"}); !db.IsCode(err, "22012") {
		t.Fatal(err)
	}
	if got, err := run(t.Context(), p, "", db.Statement{SQL: `select count(*) from t`}); err != nil || got[0] != "0" {
		t.Errorf("%v %v", got, err)
	}
}

// TestManyStatements: more statements than a connection keeps prepared still run, new ones and old ones.
func TestManyStatements(t *testing.T) {
	p := open(t, false)
	for round := range 2 {
		for i := range 400 {
			want := fmt.Sprint(i)
			got, err := run(t.Context(), p, "", db.Statement{SQL: "select " + want})
			if err != nil || got[0] != want {
				t.Fatalf("round %d, %d: %v %v", round, i, got, err)
			}
		}
	}
	fewPrepared(t, p)
}

// fewPrepared fails when the connection knows more prepared statements than a plan cache holds.
func fewPrepared(t *testing.T, p *db.Pool) {
	t.Helper()
	n := 0
	err := p.Query(t.Context(), db.Caller{}, `select count(*) from pg_prepared_statements`, nil, func(rows pgx.Rows) error {
		rows.Next()
		return rows.Scan(&n)
	})
	if err != nil || n > 260 {
		t.Errorf("%d prepared statements: %v", n, err)
	}
}

// TestFailingStatementsAreClosed: requests that fail leave no more prepared statements in Postgres than others do,
// wherever they fail: an anonymous caller chooses both the text and the values.
func TestFailingStatementsAreClosed(t *testing.T) {
	mine := errors.New("mine")
	for name, c := range map[string]struct {
		statements func(i int) []db.Statement
		read       error
		code       string
	}{
		"a value that is none": {func(i int) []db.Statement {
			return []db.Statement{{SQL: fmt.Sprintf("select $1::int as a%d", i), Args: [][]byte{text("x")}}}
		}, nil, "22P02"},
		"a text that is none": {func(i int) []db.Statement {
			return []db.Statement{{SQL: fmt.Sprintf("select 1 as a%d", i)}, {SQL: fmt.Sprintf("select nothing%d", i)}}
		}, nil, "42703"},
		"the first of several": {func(i int) []db.Statement {
			return []db.Statement{{SQL: "select 1/0"}, {SQL: fmt.Sprintf("select 1 as a%d", i)}}
		}, nil, "22012"},
		"the reader": {func(i int) []db.Statement {
			return []db.Statement{{SQL: "select 1"}, {SQL: fmt.Sprintf("select 1 as a%d", i)}}
		}, mine, ""},
		"none, but twice the same": {func(i int) []db.Statement {
			st := db.Statement{SQL: fmt.Sprintf("select 1 as a%d", i)}
			return []db.Statement{st, st, st}
		}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, false)
			for i := range 1000 {
				err := p.Session(t.Context(), "", func(s *db.Session) error {
					return s.Run(t.Context(), c.statements(i), func(int, *pgconn.ResultReader) error { return c.read })
				})
				if !errors.Is(err, c.read) && c.read != nil || c.code != "" && !db.IsCode(err, c.code) || c.code == "" && c.read == nil && err != nil {
					t.Fatalf("%d: %v", i, err)
				}
			}
			fewPrepared(t, p)
			if got, err := run(t.Context(), p, "", c.statements(1000)...); c.code == "" && (err != nil || got[0] != "1") {
				t.Errorf("and then: %v %v", got, err)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	p := open(t, false)
	mine := errors.New("mine")
	err := p.Session(t.Context(), "", func(s *db.Session) error {
		return s.Run(t.Context(), []db.Statement{{SQL: "select 1"}}, func(int, *pgconn.ResultReader) error { return mine })
	})
	if !errors.Is(err, mine) {
		t.Error(err)
	}
	if got, err := run(t.Context(), p, "", db.Statement{SQL: "select 2"}); err != nil || got[0] != "2" {
		t.Errorf("after an error of the reader: %v %v", got, err)
	}
	gone, err := db.Open(t.Context(), db.Config{URL: "postgres://nobody@127.0.0.1:1/x"})
	if err != nil {
		t.Fatal(err)
	}
	defer gone.Close()
	if _, err := run(t.Context(), gone, "", db.Statement{SQL: "select 1"}); !errors.Is(err, db.ErrUnavailable) || !db.IsUnavailable(err) {
		t.Error(err)
	}
}
