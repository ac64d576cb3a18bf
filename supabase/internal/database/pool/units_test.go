package pool_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
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

// TestPreparedUnits: units whose plans exist share a transaction, and nothing else. Those that fail
// end it, and the others run in another one.
func TestPreparedUnits(t *testing.T) {
	p := open(t, false)
	with := func(name, value string) pool.Caller {
		return pool.Caller{Settings: []pool.Setting{{Name: name, Value: value}}}
	}
	divide := func(n string) pool.Unit { return pool.Unit{SQL: `select 1/$1::int`, Args: [][]byte{text(n)}} }
	show := pool.Unit{SQL: `select coalesce(nullif(current_setting('app.x', true), ''), 'none')`}
	set := func(local string) pool.Unit {
		return pool.Unit{SQL: `select set_config('app.x', 'left', $1::bool)`, Args: [][]byte{text(local)}}
	}
	wait := func(seconds string) pool.Unit {
		return pool.Unit{Caller: with("statement_timeout", "200"), SQL: `select pg_sleep($1::float8)::text`,
			Args: [][]byte{text(seconds)}}
	}
	mine := show
	mine.Caller = with("app.x", "mine")
	good := []pool.Unit{divide("1"), set("true"), show, mine, show, wait("0")}
	if _, err := p.Units(t.Context(), good); err != nil { // prepares the plans
		t.Fatal(err)
	}
	role := show
	role.Caller = pool.Caller{Role: "anon"}
	for _, tt := range []struct {
		units []pool.Unit
		want  string
	}{
		{[]pool.Unit{set("true"), show, set("false"), show, mine, show}, "left none left none mine none"},
		{[]pool.Unit{divide("0"), show}, "22012 none"},
		{[]pool.Unit{show, divide("0")}, "none 22012"},
		{[]pool.Unit{set("true"), divide("0"), show, wait("5"), show, divide("1")}, "left 22012 none 57014 none 1"},
		{[]pool.Unit{divide("0"), divide("0"), set("true"), divide("0"), show, divide("0"), show, divide("1")},
			"22012 22012 left 22012 none 22012 none 1"},
		{[]pool.Unit{role, show, role}, "none none none"},
		{[]pool.Unit{show}, "none"},
		{nil, ""},
	} {
		for range 2 {
			results, err := p.Units(t.Context(), tt.units)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range results {
				if pg, ok := pool.AsPgError(r.Err); ok {
					got = append(got, pg.Code)
				} else if r.Err != nil {
					t.Error(r.Err)
				} else {
					got = append(got, *r.Rows[0][0])
				}
			}
			if all := strings.Join(got, " "); all != tt.want {
				t.Errorf("got %q, want %q", all, tt.want)
			}
		}
	}
	checkPreparedCount(t, p)
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
