package cli

import (
	"context"
	"fmt"
	"time"

	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/app/datadir"
)

var stopCommand = Command{
	Name:  "stop",
	Args:  "[FLAGS]",
	Short: "Stop the running server after the requests in flight",
	Run:   runStop,
}

func runStop(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	limit := inv.flags.Duration("timeout", 30*time.Second,
		"how long to wait for the end; the server goes on stopping afterwards")
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	_, data, err := inv.installation()
	if err != nil {
		return err
	}
	var reply struct{}
	if err := control.Command(ctx, data, "/stop", &reply); err != nil {
		return err
	}
	if err := awaitStop(ctx, *limit, func() bool { return datadir.Locked(data) }); err != nil {
		return err
	}
	fmt.Fprintln(inv.Stdout, "stopped")
	return nil
}

// awaitStop waits until running returns false. It returns an error if ctx ends or after limit.
func awaitStop(ctx context.Context, limit time.Duration, running func() bool) error {
	timeout := time.After(limit)
	for running() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server is stopping, but may not have stopped yet: %w", ctx.Err())
		case <-timeout:
			return fmt.Errorf("the server has not stopped after %v; its log says why", limit)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}
