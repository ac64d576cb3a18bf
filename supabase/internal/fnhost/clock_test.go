package fnhost

import (
	"testing"

	"daawo/supabase/internal/testdb"
)

// TestLimitAfterClockChange checks that requests which were counted with a wrong clock do not block the client later.
func TestLimitAfterClockChange(t *testing.T) {
	for _, jump := range []string{"-1 year", "-1 hour", "1 hour", "1 year"} {
		tdb := testdb.NewSite(t)
		tdb.Exec(`insert into private.request_limits (client, name, requests, started_at) values ('c', 'n', 1000, now() + interval '` + jump + `')`)
		tdb.Exec(`select private.count_request('c', 'n', 5, interval '10 minutes')`) // raises an error if the limit is reached
		if n := testdb.Value[int](tdb, `select requests from private.request_limits`); n != 1 {
			t.Errorf("after %s: %d requests are counted", jump, n)
		}
	}
}
