package cli

import (
	"context"
	"fmt"
	"net"

	"daawo/supabase/internal/base/observe"
	"daawo/supabase/internal/engine/meta/pgmeta"
)

// serveMeta replaces postgres-meta. It has the same variables, port and /health.
func serveMeta(ctx context.Context, inv *Invocation) error {
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	c, err := pgmeta.FromEnv(inv.Getenv)
	if err != nil {
		return err
	}
	return pgmeta.Run(ctx, c, observe.Logger(inv.Stderr, "info", "text"), func(addr net.Addr) {
		fmt.Fprintf(inv.Stdout, "meta listens on %s\n", addr)
	})
}
