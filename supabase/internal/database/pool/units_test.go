package pool_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"daawo/supabase/internal/database/pool"
)

// TestUnits: each unit is a transaction of its own, so its error and its settings stay in it, also
// when its statement could not be prepared, and with parameters of given types.
func TestUnits(t *testing.T) {
	for _, unprepared := range []bool{false, true} {
		t.Run(fmt.Sprint("unprepared ", unprepared), func(t *testing.T) {
			p := open(t, unprepared)
			with := func(name, value string) pool.Caller {
				return pool.Caller{Settings: []pool.Setting{{Name: name, Value: value}}}
			}
			show := `select coalesce(current_setting('app.x', true), '')`
			for range 3 {
				results, err := p.Units(t.Context(), []pool.Unit{
					{Caller: with("app.y", "1"), SQL: `select set_config('app.x', 'left', true)`},
					{SQL: show},
					{Caller: with("app.x", "mine"), SQL: show},
					{SQL: `select nothing`},
					{Caller: with("statement_timeout", "20"), SQL: `select pg_sleep(5)`},
					{SQL: `select 1/$1::int`, Args: [][]byte{text("0")}},
					{SQL: `select 1/$1::int`, Args: [][]byte{text("1")}},
					{SQL: `select pg_typeof($1)`, Args: [][]byte{text("1")}, Types: []uint32{20}},
					{SQL: `select pg_typeof($1)`, Args: [][]byte{text("1")}, Types: []uint32{21}},
					{Caller: pool.Caller{Role: "no_such_role"}, SQL: show},
					{SQL: show},
				})
				if err != nil {
					t.Fatal(err)
				}
				want := []string{"left", "", "mine", "42703", "57014", "22012", "1", "bigint", "smallint", "22023", ""}
				for i, r := range results {
					got := ""
					if pg, ok := pool.AsPgError(r.Err); ok {
						got = pg.Code
					} else if r.Err == nil {
						got = *r.Rows[0][0]
					}
					if got != want[i] {
						t.Errorf("unit %d: %q, want %q (%v)", i, got, want[i], r.Err)
					}
				}
			}
			checkPreparedCount(t, p)
		})
	}
}

// TestUnitsEndWithContext: units that ended before the context are returned.
func TestUnitsEndWithContext(t *testing.T) {
	p := open(t, false)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	results, err := p.Units(ctx, []pool.Unit{{SQL: `select 1`}, {SQL: `select pg_sleep(600)`}, {SQL: `select 2`}})
	if !errors.Is(err, context.DeadlineExceeded) || len(results) == 0 || results[0].Err != nil {
		t.Errorf("%v, %v", results, err)
	}
	if results, err = p.Units(t.Context(), []pool.Unit{{SQL: `select 1`}}); err != nil || *results[0].Rows[0][0] != "1" {
		t.Errorf("the next call: %v, %v", results, err)
	}
}
