package edgetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"daawo/supabase/edge"
	"daawo/supabase/edgetest"

	"github.com/jackc/pgx/v5"
)

type note struct {
	Text string `json:"text" validate:"required"`
}

// notes stores a note and a job that marks it, at most twice an hour per client. Every night it
// deletes old notes.
var notes = edge.Func{
	JSON: edge.JSON(func(r *http.Request, env *edge.Env, n note) (note, error) {
		b := env.Batch(edge.Service)
		b.Limit(r.Context(), "notes", 2, time.Hour)
		b.Queue(`insert into notes (text, at) values ($1, $2)`, n.Text, env.Now())
		b.Enqueue("mark", n, edge.Unique(n.Text))
		return n, b.Send(r.Context())
	}),
	Jobs: map[string]edge.Job{"mark": {Run: func(ctx context.Context, env *edge.Env, args []byte) error {
		var n note
		if err := json.Unmarshal(args, &n); err != nil {
			return err
		}
		return env.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
			tag, err := tx.Exec(ctx, `update notes set marked = true where text = $1 and text <> 'bad'`, n.Text)
			if err == nil && tag.RowsAffected() == 0 {
				err = errors.New("no such note")
			}
			return err
		})
	}}},
	Schedule: "0 3 * * *",
	Run: func(ctx context.Context, env *edge.Env) error {
		return env.Tx(ctx, edge.Service, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `delete from notes where at < $1`, env.Now().Add(-24*time.Hour))
			return err
		})
	},
}

func newNotes(t *testing.T) (*edgetest.Run, *edgetest.Database) {
	t.Helper()
	db := edgetest.DB(t)
	db.Exec(`
		create table notes (text text, at timestamptz, marked bool not null default false);
		alter table notes enable row level security;
		grant select, insert, update, delete on notes to service_role, authenticated;`)
	f := edgetest.New(t, notes)
	f.DB = db
	return f, db
}

// TestDB runs a transaction, a job, a limit and a schedule on a real database with a clock of its
// own.
func TestDB(t *testing.T) {
	f, db := newNotes(t)
	post := func(text string) int { return f.Call(http.MethodPost, "/notes", `{"text":"`+text+`"}`).Code }
	if code := post("milk"); code != http.StatusOK {
		t.Fatalf("status %d", code)
	}
	if post("bad") != http.StatusOK || post("bread") != http.StatusTooManyRequests {
		t.Error("the limit does not hold")
	}
	if n := edgetest.Value[int](db, `select count(*) from notes`); n != 2 {
		t.Errorf("%d notes; a refused call must store nothing", n)
	}
	ran := f.RunJobs()
	if len(ran) != 2 || ran[0].Err != nil || ran[1].Err == nil ||
		!edgetest.Value[bool](db, `select marked from notes where text = 'milk'`) {
		t.Errorf("jobs: %+v", ran)
	}
	if again := f.RunJobs(); len(again) != 0 {
		t.Errorf("a failed job ran again at once: %+v", again)
	}
	f.Advance(time.Hour + time.Minute)
	if again := f.RunJobs(); len(again) != 1 || again[0].Err == nil {
		t.Errorf("an hour later: %+v", again)
	}
	if code := post("bread"); code != http.StatusOK {
		t.Errorf("an hour later: status %d", code)
	}
	f.Advance(23 * time.Hour)
	if err := f.RunSchedule(); err != nil {
		t.Fatal(err)
	}
	if text := edgetest.Value[string](db, `select string_agg(text, ' ') from notes`); text != "bread" {
		t.Errorf("after a day: %s", text)
	}
}

// TestDBUnique checks that a unique job is added once while it waits, and again after it ran.
func TestDBUnique(t *testing.T) {
	f, _ := newNotes(t)
	for range 2 {
		f.Call(http.MethodPost, "/notes", `{"text":"milk"}`)
	}
	if ran := f.RunJobs(); len(ran) != 1 {
		t.Errorf("%d jobs, want 1", len(ran))
	}
}

// TestDBRowLevelSecurity checks that a transaction has the rights of its caller.
func TestDBRowLevelSecurity(t *testing.T) {
	f, _ := newNotes(t)
	f.Call(http.MethodPost, "/notes", `{"text":"milk"}`)
	f.Caller = edge.Caller{Role: "authenticated", Subject: "u"}
	seen := -1
	err := f.NewEnv().Tx(t.Context(), f.Caller, func(tx pgx.Tx) error {
		return tx.QueryRow(t.Context(), `select count(*) from notes`).Scan(&seen)
	})
	if err != nil || seen != 0 {
		t.Errorf("a caller without a policy sees %d notes, %v", seen, err)
	}
}

// TestDBHasMigrations checks that the database has the tables of this project, and that copies do
// not share rows.
func TestDBHasMigrations(t *testing.T) {
	for range 2 {
		db := edgetest.DB(t)
		if edgetest.Value[int](db, `select count(*) from supabase_migrations.schema_migrations`) == 0 {
			t.Error("no migration was applied")
		}
		db.Exec(`create table only_here ()`)
	}
}
