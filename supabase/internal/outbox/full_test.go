package outbox

import (
	"testing"

	"daawo/supabase/internal/testdb"

	"github.com/jackc/pgx/v5"
)

// TestStartWithoutRoom: a database that takes no writes holds up neither the start nor the end, and the work begins by
// itself.
func TestStartWithoutRoom(t *testing.T) {
	tdb := testdb.New(t)
	newOutbox(t, tdb, Options{}, nil, false)
	tdb.ExecAs("supabase_admin", `alter database `+tdb.Name+` set default_transaction_read_only = on`)
	b := newOutbox(t, tdb, Options{}, nil, true)
	if err := b.Close(t.Context()); err != nil || b.work != nil {
		t.Errorf("work without room: %v, %v", b.work, err)
	}
	b = newOutbox(t, tdb, Options{}, nil, true)
	tdb.ExecAs("supabase_admin", `begin read write; alter database `+tdb.Name+` reset default_transaction_read_only; commit`)
	b.DB.Pgx().Reset() // a database's setting is for new connections
	waitFor(t, "a leader", func() bool {
		return testdb.Value[int](tdb, `select count(*) from river.river_leader`) == 1
	})
}

// TestGrantsAreMadeGood: what a migration that was cut off has left out is found.
func TestGrantsAreMadeGood(t *testing.T) {
	tdb := testdb.New(t)
	b := newOutbox(t, tdb, Options{}, nil, false)
	for _, lost := range []string{"usage on schema river", "insert on river.river_job", "usage on sequence river.river_job_id_seq"} {
		tdb.Exec(`revoke ` + lost + ` from service_role`)
		if err := b.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		var open bool
		if err := b.DB.Pgx().QueryRow(t.Context(), granted).Scan(&open); err != nil || !open {
			t.Errorf("%s is not granted again: %v", lost, err)
		}
		send(t, b, func(batch *pgx.Batch) error { return b.Notify(batch, notice) })
	}
}
