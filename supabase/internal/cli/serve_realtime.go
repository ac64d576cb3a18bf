package cli

import (
	"context"
	"fmt"
	"net"

	"daawo/supabase/internal/base/observe"
	"daawo/supabase/internal/engine/realtime/standalone"
)

// serveRealtime replaces supabase/realtime for one tenant. It has the same variables, port and
// paths.
func serveRealtime(ctx context.Context, inv *Invocation) error {
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	c, err := standalone.FromEnv(inv.Getenv)
	if err != nil {
		return err
	}
	return standalone.Run(ctx, c, observe.Logger(inv.Stderr, c.LogLevel, "text"), func(addr net.Addr) {
		fmt.Fprintf(inv.Stdout, "realtime listens on %s\n", addr)
	})
}
