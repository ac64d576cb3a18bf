package cli

import (
	"context"
	"os"
	"runtime"

	"daawo/supabase/internal/base/memory"
	"daawo/supabase/internal/base/observe"
	"daawo/supabase/internal/engine/auth/gotrue"
)

// authGarbage is how much garbage may gather in percent: with it auth needs no more memory than
// GoTrue, and 3 % fewer GET /user a second than with memory.Garbage.
const authGarbage = 150

// serveAuth replaces the GoTrue binary. It reads GOTRUE_* variables, DATABASE_URL, API_EXTERNAL_URL
// and PORT.
func serveAuth(ctx context.Context, inv *Invocation) error {
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	// Passwords are hashed on half of Go's processors, so on all cores. The other half serves
	// requests, because the threads that hash have a low priority.
	runtime.GOMAXPROCS(2 * runtime.GOMAXPROCS(0))
	memory.AllowGarbage(authGarbage)
	level, _ := inv.Getenv("GOTRUE_LOG_LEVEL")
	return gotrue.Run(ctx, inv.Getenv, os.Environ(), observe.Logger(inv.Stderr, level, "json"))
}
