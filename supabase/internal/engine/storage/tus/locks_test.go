package tus

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// TestCanceledRequestReleasesLock cancels a request while its lock query is queued. The lock must
// be free afterwards.
func TestCanceledRequestReleasesLock(t *testing.T) {
	pool, err := pool.Open(t.Context(), pool.Config{URL: testdb.New(t).URL("supabase_storage_admin"), MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	ours, others := newLocker(pool.Pgx(), slog.Default()), newLocker(pool.Pgx(), slog.Default())
	defer ours.close()
	defer others.close()

	const key = 42
	busy, free := make(chan struct{}), make(chan struct{})
	ours.enqueue(func(context.Context, *pgx.Conn) error {
		close(busy)
		<-free
		return nil
	})
	<-busy
	ctx, cancel := context.WithCancel(t.Context())
	canceled := make(chan error)
	go func() {
		_, _, err := ours.acquire(ctx, key)
		canceled <- err
	}()
	for queued := 0; queued == 0; {
		ours.mu.Lock()
		queued = len(ours.queue)
		ours.mu.Unlock()
	}
	cancel()
	if err := <-canceled; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	close(free)
	// all earlier jobs have run
	if err := ours.do(t.Context(), func(context.Context, *pgx.Conn) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for _, l := range []*locker{others, ours} {
		_, release, err := l.try(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		release()
	}
}
