package jobs

import (
	"errors"
	"testing"
	"time"

	"daawo/supabase/internal/database/testdb"

	"github.com/robfig/cron/v3"
)

// TestScheduleRunsOnce checks that a due time is served once by two replicas and a restart.
func TestScheduleRunsOnce(t *testing.T) {
	tdb := testdb.New(t)
	f := &fake{crons: map[string]string{"weekly": "0 6 * * 1"}}
	fresh := newOutbox(t, tdb, Options{}, f, true)
	time.Sleep(300 * time.Millisecond)
	if err := fresh.Close(t.Context()); err != nil || f.ran.Load() != 0 {
		t.Fatalf("on a fresh installation it ran %d times: %v", f.ran.Load(), err)
	}
	tdb.Exec(`update river.river_migration set created_at = now() - interval '8 days'`) // now a due time was missed
	first := newOutbox(t, tdb, Options{}, f, true)
	second := newOutbox(t, tdb, Options{}, f, true)
	waitFor(t, "the run", func() bool { return f.ran.Load() > 0 })
	if err := errors.Join(first.Close(t.Context()), second.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	newOutbox(t, tdb, Options{}, f, true)
	waitFor(t, "a leader", func() bool {
		return testdb.Value[int](tdb, `select count(*) from river.river_leader`) == 1
	})
	time.Sleep(200 * time.Millisecond)
	if n := f.ran.Load(); n != 1 {
		t.Errorf("it ran %d times for one due time", n)
	}
}

func TestLastDue(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 30, 0, 0, time.UTC) // a Wednesday
	for expression, want := range map[string]time.Time{
		"*/5 * * * *": now,
		"17 * * * *":  time.Date(2026, 3, 4, 12, 17, 0, 0, time.UTC),
		"0 6 * * 1":   time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC),
		"31 12 * * *": time.Date(2026, 3, 3, 12, 31, 0, 0, time.UTC),
		"0 0 1 1 *":   {}, // older than catchUp
	} {
		s, err := cron.ParseStandard("TZ=UTC " + expression)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := lastDue(s, now); !got.Equal(want) || ok == want.IsZero() {
			t.Errorf("%s: %v %v, want %v", expression, got, ok, want)
		}
	}
}
