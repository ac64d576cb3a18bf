package host

import (
	"testing"

	"daawo/supabase/internal/database/testdb"
)

// TestLimitAfterClockChange checks that requests which were counted with a wrong clock do not block
// the client later.
func TestLimitAfterClockChange(t *testing.T) {
	tdb := newDatabase(t)
	for _, jump := range []string{"-1 year", "-1 hour", "1 hour", "1 year"} {
		tdb.Exec(`
			truncate edge_functions.request_limits;
			insert into edge_functions.request_limits (client, name, requests, started_at) values ('c', 'n', 1000, now() + interval '` + jump + `')`)
		// raises an error if the limit is reached
		tdb.Exec(`select edge_functions.count_request('c', 'n', 5, interval '10 minutes')`)
		if n := testdb.Value[int](tdb, `select requests from edge_functions.request_limits`); n != 1 {
			t.Errorf("after %s: %d requests are counted", jump, n)
		}
	}
}
