package gotrue

import (
	"log/slog"
	"sync"
	"testing"

	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/engine/auth"
)

// TestReplicasStartTogether checks that servers that start at the same time on a database without
// limits all have them afterwards.
func TestReplicasStartTogether(t *testing.T) {
	database := testdb.New(t)
	for range 5 {
		database.ExecAs("supabase_admin", `drop schema auth_limits cascade`)
		var replicas sync.WaitGroup
		for range 8 {
			replicas.Go(func() {
				s := &settings{DatabaseURL: database.URL("supabase_admin")}
				s.Auth.Limits = auth.Limits{Burst: 30}
				if err := prepare(t.Context(), s, slog.New(slog.NewTextHandler(t.Output(), nil))); err != nil ||
					s.Auth.Limits.Burst != 30 {
					t.Errorf("limits %+v, error %v", s.Auth.Limits, err)
				}
			})
		}
		replicas.Wait()
	}
}
