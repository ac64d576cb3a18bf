package changes

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
)

// watcher follows the publications and the slots while the stream runs.
type watcher struct{ *Stream }

const (
	// lagEvery is how often it looks.
	lagEvery = 10 * time.Second
	// unusedTicks is every how many times it looks before the first client. It then closes its
	// connection, so that an idle server needs none.
	unusedTicks = 6
)

// watch measures the lag, and reconnects if a publication was created or dropped.
func (s watcher) watch(ctx context.Context) {
	tick := time.NewTicker(lagEvery)
	defer tick.Stop()
	leftovers := map[string]time.Time{}
	for ticks := 0; ; ticks++ {
		s.mu.Lock()
		used := s.used
		s.mu.Unlock()
		if used || ticks%unusedTicks == 0 {
			s.lookForTables(ctx)
			slotKeeper(s).dropLeftovers(ctx, leftovers)
		}
		if !used {
			s.o.Pool.CloseIdle(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.measureLag(ctx)
		}
	}
}

// lookForTables finds out whether the publication has tables and a slot was left. Once clients have
// used it, the stream reads while the publication has tables, so that channels which join again get
// what they missed.
func (s watcher) lookForTables(ctx context.Context) bool {
	var published, left bool
	err := s.o.Pool.Query(ctx, pool.Caller{}, `
		select exists (select from pg_publication_tables where pubname = $1),
			exists (select from pg_replication_slots where slot_name = $2 and not temporary)`,
		[]any{s.o.Publication, slotKeeper(s).slotName()}, func(rows pgx.Rows) error {
			_, err := pgx.ForEachRow(rows, []any{&published, &left}, func() error { return nil })
			return err
		})
	s.mu.Lock()
	defer s.mu.Unlock()
	if used := s.used || left; err == nil && (published != s.published || used != s.used) {
		s.published, s.used = published, used
		s.notify()
	}
	return s.needed()
}

// measureLag measures the lag and follows changes of the publications.
func (s watcher) measureLag(ctx context.Context) {
	s.mu.Lock()
	connected, names := s.slot != "", s.names
	s.mu.Unlock()
	if !connected {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lagEvery)
	defer cancel()
	var lag int64
	err := s.queryValue(ctx, `
		select greatest(pg_wal_lsn_diff(pg_current_wal_lsn(), $1::text::pg_lsn), 0)::int8`,
		[]any{FormatPosition(s.read.Load())}, &lag)
	if err != nil {
		return // the connection that reads will notice
	}
	s.mu.Lock()
	s.lag, s.lagAt = lag, s.o.Now()
	s.mu.Unlock()
	s.followPublications(ctx, names)
}

// followPublications reconnects if the publications are no longer present, the publications of the
// connection.
func (s watcher) followPublications(ctx context.Context, present []string) {
	names, err := s.publications(ctx)
	if err != nil || slices.Equal(names, present) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.restart != nil && slices.Equal(s.names, present) {
		s.state = errors.New("the publications have changed")
		s.notify()
		s.restart()
	}
}
