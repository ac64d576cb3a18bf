package gotrue

import (
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"daawo/supabase/internal/base/compare"
)

// TestSignInsBesideGoTrue logs how many sign-ins with a password each server takes, in turns within
// one run. It runs where GOTRUE names a GoTrue program.
func TestSignInsBesideGoTrue(t *testing.T) {
	if os.Getenv("GOTRUE") == "" {
		t.Skip("GOTRUE names no GoTrue program: see docs/evidence/auth.md")
	}
	cores := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(2 * cores) // as serve auth does
	defer runtime.GOMAXPROCS(cores)
	ours, theirs := startOurs(t, environments()[0]), startTheirs(t, environments()[0])
	const body = `{"email":"a@example.org","password":"password-1"}`
	header := map[string]string{"Content-Type": "application/json"}
	storm := func(address string, path string, length time.Duration) int64 {
		var done atomic.Int64
		var all sync.WaitGroup
		for end := time.Now().Add(length); done.Load() == 0 || time.Now().Before(end); {
			for range 8 {
				all.Go(func() {
					if r, err := newServer(t, address).Send(compare.Request{Method: "POST", Path: path, Header: header,
						Body: body}); err == nil && r.Status == 200 {
						done.Add(1)
					}
				})
			}
			all.Wait()
		}
		return done.Load()
	}
	storm(ours, "/signup", 0)
	storm(theirs, "/signup", 0)
	const grant, turn = "/token?grant_type=password", 3 * time.Second
	var a, b int64
	for range 4 {
		a += storm(ours, grant, turn)
		b += storm(theirs, grant, turn)
	}
	t.Logf("%d sign-ins, GoTrue %d: %.2f times", a, b, float64(a)/float64(b))
}
