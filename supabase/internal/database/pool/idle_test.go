package pool_test

import (
	"testing"
	"time"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
)

// TestCloseIdle checks that CloseIdle leaves connections in use alone, and that the pool opens
// others afterwards.
func TestCloseIdle(t *testing.T) {
	t.Parallel()
	p, err := pool.Open(t.Context(), pool.Config{URL: testdb.New(t).URL("postgres"), MaxConns: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	used, err := p.Pgx().Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer used.Release()
	other, err := p.Pgx().Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other.Release()
	p.CloseIdle(t.Context())
	// closed in the background
	for end := time.Now().Add(30 * time.Second); p.Pgx().Stat().TotalConns() != 1; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d connections, want 1", p.Pgx().Stat().TotalConns())
		}
	}
	if err := used.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if err := p.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}
