package pool_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

func open(t *testing.T, unprepared bool) *pool.Pool {
	t.Helper()
	database := testdb.New(t)
	database.Exec(`create table public.t (n int unique)`)
	p, err := pool.Open(t.Context(), pool.Config{URL: database.URL("postgres"), MaxConns: 1, Unprepared: unprepared})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func text(s string) []byte { return []byte(s) }

// run runs statements in one round trip and returns the first column of the last statement's rows.
func run(ctx context.Context, p *pool.Pool, scope string, statements ...pool.Statement) (out []string, err error) {
	err = p.Session(ctx, scope, func(s *pool.Session) error {
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

// TestRunIsOneTransaction: the statements of a Run commit or roll back together, prepared or not,
// and the connection stays usable.
func TestRunIsOneTransaction(t *testing.T) {
	for _, unprepared := range []bool{false, true} {
		t.Run(fmt.Sprint("unprepared ", unprepared), func(t *testing.T) {
			p := open(t, unprepared)
			insert := pool.Statement{SQL: `insert into t values ($1)`, Args: [][]byte{text("1")}}
			count := pool.Statement{SQL: `select count(*) from t`}
			for range 3 {
				if _, err := run(t.Context(), p, "", insert, insert); !pool.IsCode(err, "23505") {
					t.Fatalf("duplicate key: %v", err)
				}
				if got, err := run(t.Context(), p, "", count); err != nil || got[0] != "0" {
					t.Fatalf("%v %v", got, err)
				}
			}
			set := pool.Statement{SQL: `select set_config($1, $2, true)`, Args: [][]byte{text("app.x"), text("y")}}
			show := pool.Statement{SQL: `select current_setting('app.x', true)`}
			if got, err := run(t.Context(), p, "a", set, show); err != nil || got[0] != "y" {
				t.Errorf("setting in its transaction: %v %v", got, err)
			}
			if got, err := run(t.Context(), p, "a", show); err != nil || got[0] != "" {
				t.Errorf("setting after its transaction: %v %v", got, err)
			}
		})
	}
}

// TestOpenTransactionIsRolledBack: Session rolls back a transaction that its function leaves open.
func TestOpenTransactionIsRolledBack(t *testing.T) {
	p := open(t, false)
	begin, insert := pool.Statement{SQL: "begin"}, pool.Statement{SQL: `insert into t values (1)`}
	if _, err := run(t.Context(), p, "", begin, insert); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t.Context(), p, "", begin, pool.Statement{SQL: "select 1/0"}); !pool.IsCode(err, "22012") {
		t.Fatal(err)
	}
	if got, err := run(t.Context(), p, "", pool.Statement{SQL: `select count(*) from t`}); err != nil || got[0] != "0" {
		t.Errorf("%v %v", got, err)
	}
}

// TestPlanCacheEvicts runs more statements than a connection keeps prepared, twice.
func TestPlanCacheEvicts(t *testing.T) {
	p := open(t, false)
	for round := range 2 {
		for i := range 400 {
			want := fmt.Sprint(i)
			got, err := run(t.Context(), p, "", pool.Statement{SQL: "select " + want})
			if err != nil || got[0] != want {
				t.Fatalf("round %d, %d: %v %v", round, i, got, err)
			}
		}
	}
	checkPreparedCount(t, p)
}

// checkPreparedCount fails if the connection has more prepared statements than a plan cache holds.
func checkPreparedCount(t *testing.T, p *pool.Pool) {
	t.Helper()
	n := 0
	err := p.Query(t.Context(), pool.Caller{}, `select count(*) from pg_prepared_statements`, nil,
		func(rows pgx.Rows) error {
			rows.Next()
			return rows.Scan(&n)
		})
	if err != nil || n > 260 {
		t.Errorf("%d prepared statements: %v", n, err)
	}
}

// TestFailedStatementsAreDeallocated: failing pipelines leave no prepared statements behind.
// Anonymous callers choose both the SQL text and the values, so they could fill the server's
// memory.
func TestFailedStatementsAreDeallocated(t *testing.T) {
	mine := errors.New("mine")
	for name, c := range map[string]struct {
		statements func(i int) []pool.Statement
		read       error
		code       string
	}{
		"invalid value": {func(i int) []pool.Statement {
			return []pool.Statement{{SQL: fmt.Sprintf("select $1::int as a%d", i), Args: [][]byte{text("x")}}}
		}, nil, "22P02"},
		"invalid SQL": {func(i int) []pool.Statement {
			return []pool.Statement{{SQL: fmt.Sprintf("select 1 as a%d", i)}, {SQL: fmt.Sprintf("select nothing%d", i)}}
		}, nil, "42703"},
		"first of several fails": {func(i int) []pool.Statement {
			return []pool.Statement{{SQL: "select 1/0"}, {SQL: fmt.Sprintf("select 1 as a%d", i)}}
		}, nil, "22012"},
		"read fails": {func(i int) []pool.Statement {
			return []pool.Statement{{SQL: "select 1"}, {SQL: fmt.Sprintf("select 1 as a%d", i)}}
		}, mine, ""},
		"equal statements": {func(i int) []pool.Statement {
			st := pool.Statement{SQL: fmt.Sprintf("select 1 as a%d", i)}
			return []pool.Statement{st, st, st}
		}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := open(t, false)
			for i := range 1000 {
				err := p.Session(t.Context(), "", func(s *pool.Session) error {
					return s.Run(t.Context(), c.statements(i), func(int, *pgconn.ResultReader) error { return c.read })
				})
				if !errors.Is(err, c.read) && c.read != nil || c.code != "" && !pool.IsCode(err, c.code) ||
					c.code == "" && c.read == nil && err != nil {
					t.Fatalf("%d: %v", i, err)
				}
			}
			checkPreparedCount(t, p)
			if got, err := run(t.Context(), p, "", c.statements(1000)...); c.code == "" &&
				(err != nil || got[0] != "1") {
				t.Errorf("statement after 1000: %v %v", got, err)
			}
		})
	}
}

func TestRunErrors(t *testing.T) {
	p := open(t, false)
	mine := errors.New("mine")
	err := p.Session(t.Context(), "", func(s *pool.Session) error {
		return s.Run(t.Context(), []pool.Statement{{SQL: "select 1"}},
			func(int, *pgconn.ResultReader) error { return mine })
	})
	if !errors.Is(err, mine) {
		t.Error(err)
	}
	if got, err := run(t.Context(), p, "", pool.Statement{SQL: "select 2"}); err != nil || got[0] != "2" {
		t.Errorf("after an error of read: %v %v", got, err)
	}
	down, err := pool.Open(t.Context(), pool.Config{URL: "postgres://postgres@127.0.0.1:1/x"})
	if err != nil {
		t.Fatal(err)
	}
	defer down.Close()
	if _, err := run(t.Context(), down, "", pool.Statement{SQL: "select 1"}); !errors.Is(err, pool.ErrUnavailable) ||
		!pool.IsUnavailable(err) {
		t.Error(err)
	}
}

// TestLargePipeline: one pipeline may have more statements than the plan cache holds, also when it
// reuses a cached one.
func TestLargePipeline(t *testing.T) {
	p := open(t, false)
	for round := range 3 {
		statements := []pool.Statement{{SQL: "select 'cached'"}}
		if round > 0 {
			for i := range 400 {
				statements = append(statements, pool.Statement{SQL: fmt.Sprintf("select %d + %d", round, i)})
			}
			statements = append(statements, statements[0])
		}
		if got, err := run(t.Context(), p, "", statements...); err != nil || got[0] != "cached" {
			t.Fatalf("round %d: %v %v", round, got, err)
		}
	}
	if _, err := run(t.Context(), p, "", pool.Statement{SQL: "select 1"}); err != nil {
		t.Fatal(err)
	}
	checkPreparedCount(t, p)
}
